"""What the target alone says of answers, each asked once."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from specprof.lossless.greedy import Score
from specprof.lossless.warp import Floats, probabilities
from specprof.records import Arm

Answer = tuple[int, ...]
BINS = 20


@dataclass(frozen=True, slots=True)
class Scored:
    """`log_probability`: mean over tokens at temperature 1. `below` and `own`: per token, the mass of the tokens
    likelier than it under the arm's sampling, and its own."""

    log_probability: float
    below: Floats
    own: Floats


class Oracle:
    """The target's distributions as `arm` samples from them."""

    def __init__(self, score: Score, arm: Arm) -> None:
        self._score, self._arm = score, arm
        self._next: dict[tuple[str, Answer], Floats] = {}
        self._scored: dict[tuple[str, Answer], Scored] = {}

    def next_token(self, prompt: str, prefix: Answer) -> Floats:
        """The probabilities of every token after `prefix`."""
        key = prompt, prefix
        if key not in self._next:
            self._next[key] = probabilities(self._score(prompt, prefix)[-1], self._arm)
        return self._next[key]

    def scored(self, prompt: str, answer: Answer) -> Scored:
        key = prompt, answer
        if key not in self._scored:
            self._scored[key] = self._ask(prompt, answer)
        return self._scored[key]

    def _ask(self, prompt: str, answer: Answer) -> Scored:
        rows = self._score(prompt, answer)[:-1]
        tokens = np.array(answer)[:, None]
        p = probabilities(rows, self._arm)
        own = np.take_along_axis(p, tokens, axis=-1)
        earlier = (p == own) & (np.arange(p.shape[-1]) < tokens)  # of equals the lower id counts as likelier
        below = np.where((p > own) | earlier, p, 0.0).sum(axis=-1)
        return Scored(float(np.take_along_axis(rows, tokens, axis=-1).mean()), below, own[:, 0])


def ranks(scored: Iterable[Scored], rng: np.random.Generator) -> dict[int, int]:
    """How many tokens fall into each of `BINS` equal parts of the target's mass, likeliest tokens first.

    A token draws its place inside its own mass, so that a lossless arm fills the parts evenly at every position
    (randomised probability integral transform; Rosenblatt 1952).
    """
    parts = [np.zeros(0), *(one.below + rng.random(one.own.size) * one.own for one in scored)]
    bins = np.minimum((np.concatenate(parts) * BINS).astype(int), BINS - 1)
    return {index: int(count) for index, count in enumerate(np.bincount(bins, minlength=BINS)) if count}
