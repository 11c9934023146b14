"""Costs timed inside the real `generate`, at the edges that a run uses: forwards timed alone price a round wrongly."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from statistics import median
from time import perf_counter_ns
from typing import Any

import torch

from specprof.engines.calibration import first_of_each_drafter, longest_context, room, widths_up_to
from specprof.engines.huggingface.clock import Clock
from specprof.engines.huggingface.drafters import Filler, Observed, instead
from specprof.engines.huggingface.drafting import drafting
from specprof.engines.huggingface.hook import Boundary
from specprof.engines.huggingface.load import Loaded
from specprof.engines.huggingface.prefix import Prefix, joined, only_new_tokens
from specprof.engines.huggingface.request import decoding
from specprof.errors import UsageError
from specprof.records import BASELINE, Arm, CostSample, Prompt, Round

STEPS = 3  # plain steps per sample
SHIFT = 8  # starting places, one per repeat in turn: another text each time, for the price of one prefill
FROM_CACHE = ("draft_model", "universal", "early_exit", "prompt_lookup")  # the others read the target's whole prefill


def calibrate(
    loaded: Loaded, arms: Sequence[Arm], contexts: Sequence[int], repeats: int, prompts: Sequence[Prompt], clock: Clock
) -> Iterator[CostSample]:
    """Samples of a repeat at one context come together, in random order; a first repeat warms up and is dropped."""
    stand = _Stand(loaded, arms, contexts, prompts, clock)
    rng = random.Random(0)
    with only_new_tokens(loaded.target):
        list(stand.samples(rng, stand.prefixes[0], repeats))
        for repeat in range(repeats):
            for prefix in rng.sample(stand.prefixes, len(stand.prefixes)):
                yield from stand.samples(rng, prefix, repeat)


class _Stand:
    def __init__(
        self, loaded: Loaded, arms: Sequence[Arm], contexts: Sequence[int], prompts: Sequence[Prompt], clock: Clock
    ) -> None:
        self._loaded, self._clock = loaded, clock
        self._arms = [_never_stopping(arm) for arm in first_of_each_drafter(arms)]
        k = max((arm.k for arm in self._arms), default=0)
        self._widths, self._room = widths_up_to(k), room(k)
        _check_contexts(contexts, longest_context(k, loaded.context) if loaded.context else None)
        text = joined(loaded, prompts, max(contexts) + self._room)
        self.prefixes = [Prefix(loaded.target, text, context) for context in contexts]

    def samples(self, rng: random.Random, prefix: Prefix, repeat: int) -> list[CostSample]:
        start = max(1, prefix.context - repeat % SHIFT)
        sample = partial(CostSample, context=prefix.context, repeat=repeat)
        parts: list[Callable[[], Iterator[CostSample]]] = [
            partial(self._plain, prefix, start, sample),
            partial(self._rounds, prefix, start, sample, rng.sample(self._widths, len(self._widths))),
            *(partial(self._draft, prefix, start, sample, arm) for arm in self._arms),
        ]
        rng.shuffle(parts)
        return [taken for part in parts for taken in part()]

    def _plain(self, prefix: Prefix, start: int, sample: Callable[..., CostSample]) -> Iterator[CostSample]:
        ticks = _Ticks()
        self._generate(self._plain_arm("none"), prefix.inputs(start, True), ticks, STEPS + 1)
        steps = [after - before for before, after in pairwise(ticks.at[1:])]  # the first chunk is the prompt
        yield sample("plain", us=median(steps) / 1000)

    def _rounds(
        self, prefix: Prefix, start: int, sample: Callable[..., CostSample], widths: list[int]
    ) -> Iterator[CostSample]:
        filler, arm = Filler(prefix.text, [0, *widths]), self._plain_arm("prompt_lookup")
        with instead(self._loaded.target, lambda *_, **__: filler):
            for round in self._assisted(arm, prefix.inputs(start, True), lambda: len(widths))[1:]:
                yield sample("round", us=_rest_us(round), width=round.proposed)

    def _draft(self, prefix: Prefix, start: int, sample: Callable[..., CostSample], arm: Arm) -> Iterator[CostSample]:
        observed = Observed(self._loaded.target, self._clock, arm.k)
        with instead(self._loaded.target, observed):
            inputs = prefix.inputs(start, arm.method in FROM_CACHE)
            rounds = self._assisted(arm, inputs, lambda: observed.lead + observed.samples - 1)
        for round in rounds[observed.lead :]:
            yield sample("draft", us=round.draft_us, width=round.proposed, arm=arm.id)
        yield sample("setup", us=observed.setup_us(), arm=arm.id)

    def _assisted(self, arm: Arm, inputs: dict[str, Any], last: Callable[[], int]) -> tuple[Round, ...]:
        """Rounds 0 to `last()`; round 0 holds the prefill."""
        seen: list[Round] = []
        boundary = Boundary(self._clock, seen.append, self._room, arm.temperature == 0, arm.threshold)
        with boundary.attached(self._loaded.target):
            self._generate(arm, inputs, _Ticks(), self._room, lambda: len(seen) > last())
        return boundary.rounds()

    def _generate(
        self, arm: Arm, inputs: dict[str, Any], streamer: "_Ticks", most: int, done: Callable[[], bool] | None = None
    ) -> None:
        def stop(input_ids: Any, scores: Any, **_: Any) -> Any:
            return torch.full((1,), done is not None and done(), device=input_ids.device)

        torch.manual_seed(0)
        with drafting(self._loaded, arm) as drafter:
            self._loaded.target.generate(
                **inputs,
                generation_config=decoding(arm, most, ()),
                streamer=streamer,
                stopping_criteria=[stop],
                **drafter,
            )

    def _plain_arm(self, method: str) -> Arm:
        """The target alone, with the sampling of the arms."""
        some = self._arms[0]
        return Arm(BASELINE, method, k=1, temperature=some.temperature, top_p=some.top_p, top_k=some.top_k)


class _Ticks:
    """A streamer that notes when each chunk came."""

    def __init__(self) -> None:
        self.at: list[int] = []

    def put(self, tokens: Any) -> None:
        self.at.append(perf_counter_ns())

    def end(self) -> None:
        """The last token has passed."""


def _never_stopping(arm: Arm) -> Arm:
    """A drafter that looks at its confidence and pays for it, but goes on to k whatever it sees."""
    return replace(arm, threshold=1e-12) if arm.schedule == "confidence" else arm


def _rest_us(round: Round) -> int:
    assert round.step_us is not None
    assert round.draft_us is not None
    return round.step_us - round.draft_us


def _check_contexts(contexts: Sequence[int], most: int | None) -> None:
    for context in contexts:
        if context < 1 or (most and context > most):
            fits = f"1 to {most}" if most else "1 or more"
            raise UsageError(f"no room for a context of {context} cached tokens", f"`--contexts` are {fits} here")
