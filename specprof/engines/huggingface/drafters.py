"""Drafters of a calibration: one that costs nothing and has any width, and a real one that is looked at."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch

from specprof.engines.huggingface.clock import Clock


@contextmanager
def instead(model: Any, factory: Callable[..., Any]) -> Iterator[None]:
    """Let `factory` make the candidate generators of `model` inside the block."""
    model._get_candidate_generator = factory
    try:
        yield
    finally:
        vars(model).pop("_get_candidate_generator", None)  # the hook, inside, may have removed it


class Filler:
    """A candidate generator that proposes what stands at this place of `text`, one entry of `widths` per round."""

    requires_model_outputs = False

    def __init__(self, text: torch.Tensor, widths: Sequence[int]) -> None:
        self._text, self._widths = text, iter(widths)

    def get_candidates(self, input_ids: Any, **_: Any) -> tuple[Any, None]:
        at = input_ids.shape[1]
        return torch.cat([input_ids, self._text[:, at : at + next(self._widths)]], dim=-1), None

    def update_candidate_strategy(self, input_ids: Any, scores: Any, num_matches: int) -> None:
        """Nothing is learnt."""


class Observed:
    """Makes the model's own candidate generator and asks it for 1 token, for k and for 1 again, where it takes a k.

    `lead` calls do what is done once, the draft's prefill included: the first, and the second where the first only
    looks on. `samples` calls follow.
    """

    lead, samples = 1, 1

    def __init__(self, model: Any, clock: Clock, k: int) -> None:
        self._make, self._clock, self._k = model._get_candidate_generator, clock, k
        self._marks: list[tuple[Any, Any]] = []
        self._widths: list[int] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        start = self._clock.mark()
        generator = self._make(*args, **kwargs)
        self._marks.append((start, self._clock.mark()))
        self.lead = 2 if generator.requires_model_outputs else 1
        self.samples = 2 if hasattr(generator, "num_assistant_tokens") else 1
        generator.get_candidates = partial(self._call, generator, generator.get_candidates)
        return generator

    def _call(self, generator: Any, propose: Callable[..., Any], input_ids: Any, **kwargs: Any) -> Any:
        if self.samples > 1:
            generator.num_assistant_tokens = self._k if len(self._widths) == self.lead else 1
        start = self._clock.mark()
        candidates, logits = propose(input_ids, **kwargs)
        self._marks.append((start, self._clock.mark()))
        self._widths.append(candidates.shape[1] - input_ids.shape[1])
        return candidates, logits

    def setup_us(self) -> float:
        """What came before the first usual call, without the proposing itself; call it when the request has ended."""
        made, *calls = (self._clock.between(*marks) for marks in self._marks)
        before, usual = calls[: self.lead], zip(self._widths[self.lead :], calls[self.lead :], strict=True)
        nearest = min(usual, key=lambda pair: abs(pair[0] - self._widths[self.lead - 1]))
        return (made + sum(before) - nearest[1]) / 1000
