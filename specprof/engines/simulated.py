"""Two seeded engines in virtual time whose true acceptance and costs are known: what a report must find.

Each text position i of a response carries one uniform number u_i, fixed by the seed. A draft token for position i in
place j of its block (1-based) matches the target when u_i < p · decay^(j−1). `prefix` has decay 1: whether a proposal
matches depends on the text before it alone (a stand-alone draft model). `block` has decay below 1: the chance falls
along the block (one-pass drafters). A position is decided once, so matches are independent and survival is a product.
Prefill emits the first token, as in vLLM.
"""

import hashlib
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from types import TracebackType
from typing import Any, Self

from specprof.errors import UsageError
from specprof.records import Capabilities, EngineConfig, Job, Request, Round


@dataclass(frozen=True)
class Truth:
    """What the simulation obeys. Costs are in units of one plain decode step, which takes `step_us`.

    A request's own match probability is its task's ± `spread`, with equal chance: requests differ, as real ones do.
    """

    match: Mapping[str, float] = field(default_factory=lambda: {"code": 0.75, "summarise": 0.85, "chat": 0.35})
    other: float = 0.6
    spread: float = 0.1
    decay: float = 1.0
    alpha: float = 0.1
    alpha_round: float = 0.05
    beta: float = 0.02
    phi: float = 0.03
    step_us: int = 20_000
    prefill_token_us: int = 100

    def hazard(self, match: float, place: int) -> float:
        """Chance that draft token `place` (1-based) matches, given that all before it did."""
        return match * self.decay ** (place - 1)

    def draft_us(self, proposed: int) -> int:
        return round(self.step_us * (self.alpha * proposed + self.alpha_round * (proposed > 0)))

    def verify_us(self, width: int) -> int:
        return round(self.step_us * (1 + self.beta * width))


class PrefixEngine:
    """Acceptance depends on the text alone."""

    name = "simulated-prefix"
    capabilities = Capabilities(
        methods=("none", "simulated"), first_tokens=1, unobserved={"started_at": "time is virtual"}
    )

    def __init__(self, truth: Truth | None = None) -> None:
        self.truth = truth or Truth()

    def check(self, config: EngineConfig) -> None:
        for name in ("model", "dtype", "device", "threads"):
            if getattr(config, name) is not None:
                raise UsageError(f"`{self.name}` has no model: `--{name}` changes nothing", "leave it out")
        for option in config.options:
            raise UsageError(f"`{self.name}` has no option `{option}`", "leave `--engine-option` out")
        for arm in config.arms:
            if arm.method not in self.capabilities.methods:
                raise UsageError(f"arm `{arm.id}`: `{self.name}` cannot do `{arm.method}`", "pass `--method simulated`")
            if arm.method == "simulated" and arm.k < 1:
                raise UsageError(f"arm `{arm.id}` drafts k = {arm.k} tokens", "pass `--k 1` or more")
            if arm.schedule != "constant":
                raise UsageError(f"arm `{arm.id}`: `{self.name}` has no schedule `{arm.schedule}`", "use `constant`")

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
            yield self._request(job)

    def _request(self, job: Job) -> Request:
        rng = random.Random(f"{job.seed}/{job.prompt.id}/{job.sample}")
        length = min(job.max_tokens, job.prompt.output_tokens or rng.randint(job.max_tokens // 2 + 1, job.max_tokens))
        match = self.truth.match.get(job.prompt.task, self.truth.other) + rng.choice((-1, 1)) * self.truth.spread
        draws = [rng.random() for _ in range(length)]
        rounds = tuple(self._rounds(job, match, draws)) if job.arm.method == "simulated" else ()
        prompt_tokens = _prompt_tokens(job)
        ttft_us = prompt_tokens * self.truth.prefill_token_us + self.truth.step_us
        decode_us = sum(r.step_us or 0 for r in rounds) if rounds else (length - 1) * self.truth.step_us
        finish = "length" if length == job.max_tokens else "eos"
        return Request.of(
            job,
            prompt_tokens=prompt_tokens,
            response_tokens=length,
            rounds=rounds,
            first_tokens=1,
            first_chunk_tokens=1,
            finish_reason=finish,
            censor_reason=finish if rounds and rounds[-1].censored else None,
            ttft_us=ttft_us,
            latency_us=ttft_us + decode_us,
            output_sha256=hashlib.sha256(repr(draws).encode()).digest(),
        )

    def _rounds(self, job: Job, match: float, draws: list[float]) -> Iterator[Round]:
        at, k = 1, job.arm.k
        while at < len(draws):
            raw = 0
            while raw < k and at + raw < len(draws) and draws[at + raw] < self.truth.hazard(match, raw + 1):
                raw += 1
            emitted = min(raw + 1, len(draws) - at)
            draft_us, verify_us = self.truth.draft_us(k), self.truth.verify_us(k)
            step = Round(
                proposed=k,
                drafted=k,
                width=k,
                accepted=min(raw, emitted),
                emitted=emitted,
                draft_us=draft_us,
                verify_us=verify_us,
                step_us=draft_us + verify_us + round(self.truth.step_us * self.truth.phi),
                drafter_ran=True,
            )
            job.on_round(step)
            yield step
            at += emitted


class BlockEngine(PrefixEngine):
    """Acceptance also falls with the place in the drafted block."""

    name = "simulated-block"

    def __init__(self, truth: Truth | None = None) -> None:
        super().__init__(truth or replace(Truth(), decay=0.85))


def _prompt_tokens(job: Job) -> int:
    text = job.prompt.text or " ".join(str(message.get("content", "")) for message in job.prompt.messages or ())
    return len(text.split())
