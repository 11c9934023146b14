"""Two seeded engines in virtual time whose true acceptance and costs are known: what a report must find.

`prefix`: whether a proposal matches depends on the text before it alone (a stand-alone draft model). `block`: the
chance falls along the drafted block (one-pass drafters).
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from types import TracebackType
from typing import Any, Self

from specprof.engines.calibration import first_of_each_drafter, widths_up_to
from specprof.engines.simulation import Truth, answer, text
from specprof.errors import UsageError
from specprof.records import Arm, Capabilities, CostSample, EngineConfig, Job, Prompt, Request

UNOBSERVED = {
    "started_at": "time is virtual",
    "confidence": "only with `--detail tokens`",
    "draft_ids": "only with `--detail tokens`",
    "target_prob": "the simulation decides matches, it has no distribution",
}
SHARED_NOISE, OWN_NOISE = 0.05, 0.01  # of a calibration, relative


class PrefixEngine:
    """Acceptance depends on the text alone."""

    name = "simulated-prefix"
    capabilities = Capabilities(methods=("none", "simulated"), first_tokens=1, unobserved=UNOBSERVED)

    def __init__(self, truth: Truth | None = None) -> None:
        self.truth = truth or Truth()
        self._config = EngineConfig(arms=())

    def check(self, config: EngineConfig) -> None:
        for name in ("model", "dtype", "device", "threads"):
            if getattr(config, name) is not None:
                raise UsageError(f"`{self.name}` has no model: `--{name}` changes nothing", "leave it out")
        for option in config.options:
            raise UsageError(f"`{self.name}` has no option `{option}`", "leave `--engine-option` out")
        for arm in config.arms:
            self._check_arm(arm)
        self._config = config

    def _check_arm(self, arm: Arm) -> None:
        if arm.method not in self.capabilities.methods:
            raise UsageError(f"arm `{arm.id}`: `{self.name}` cannot do `{arm.method}`", "pass `--method simulated`")
        if arm.method == "simulated" and arm.k < 1:
            raise UsageError(f"arm `{arm.id}` drafts k = {arm.k} tokens", "pass `--k 1` or more")
        if arm.schedule != "constant":
            raise UsageError(f"arm `{arm.id}`: `{self.name}` has no schedule `{arm.schedule}`", "use `constant`")
        for name in ("draft", "draft_sampling", "rejection_method", "concurrency"):
            if (value := getattr(arm, name)) not in (None, 1):
                raise UsageError(f"arm `{arm.id}`: `{self.name}` has no `{name}`, here {value}", "leave it out")
        for name in arm.options:
            raise UsageError(f"arm `{arm.id}`: `{self.name}` has no option `{name}`", "leave it out")

    def count_tokens(self, prompt: Prompt) -> int:
        return len(text(prompt).split())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def describe(self) -> dict[str, Any]:
        return {"engine": self.name, "engine_version": "1", "target": "simulated", "truth": asdict(self.truth)}

    def generate(self, jobs: Iterable[Job]) -> Iterator[Request]:
        for job in jobs:
            yield answer(self.truth, job, self._config)

    def calibrate(
        self, arms: Sequence[Arm], contexts: Sequence[int], repeats: int, prompts: Sequence[Prompt]
    ) -> Iterator[CostSample]:
        """The costs of the truth, the same at every context, each sample with a little noise of its own and with a
        larger one that it shares with its repeat, as on a machine that is faster at one time than at another."""
        most = max((arm.k for arm in arms), default=0)
        for repeat in range(repeats):
            for context in contexts:
                rng = random.Random(f"calibration/{repeat}/{context}")
                shared = rng.gauss(1, SHARED_NOISE)
                for sample in self._samples(arms, widths_up_to(most)):
                    us = sample.us * shared * rng.gauss(1, OWN_NOISE)
                    yield replace(sample, context=context, repeat=repeat, us=us)

    def _samples(self, arms: Sequence[Arm], widths: Sequence[int]) -> Iterator[CostSample]:
        truth, step = self.truth, partial(CostSample, context=0, repeat=0)
        yield step("plain", us=truth.step_us)
        for width in widths:
            yield step("round", us=truth.verify_us(width) + truth.step_us * truth.phi, width=width)
        for arm in first_of_each_drafter(arms):
            yield step("setup", us=0.0, arm=arm.id)
            for proposed in widths_up_to(arm.k)[1:]:
                yield step("draft", us=truth.draft_us(proposed), width=proposed, arm=arm.id)


class BlockEngine(PrefixEngine):
    """Acceptance also falls with the place in the drafted block."""

    name = "simulated-block"

    def __init__(self, truth: Truth | None = None) -> None:
        super().__init__(truth or replace(Truth(), decay=0.85))
