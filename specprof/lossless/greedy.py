"""Greedy answers token by token: where an arm parts from the baseline, and whether rounding explains it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import binomtest

from specprof.analysis.estimate import Estimate
from specprof.records import Request

Score = Callable[[str, tuple[int, ...]], Any]
"""(prompt id, answer) → log-probabilities of the target, as `Scores.score`."""

# Four units in the last place of a logit between 16 and 32; of float32 more, for errors add up over the layers.
TOLERANCE = {"float32": 1e-3, "float16": 0.06, "bfloat16": 0.5}
UNKNOWN_DTYPE = "bfloat16"


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first place where two answers part. `ours` and `theirs` are token ids, None past the end of an answer;
    `position` is None where only hashes are known.

    `gap`: how far the target's second choice is below its first there, in logits. `shortfall`: how far the worse of
    the two tokens chosen is below the first. `spread`: how far two exact passes of different length are apart there.
    """

    prompt: str
    position: int | None
    ours: int | None
    theirs: int | None
    gap: float | None = None
    shortfall: float | None = None
    spread: float | None = None
    tolerance: float | None = None
    judgement: str = "unjudged"  # or numerics, bug


@dataclass(frozen=True, slots=True)
class Greedy:
    """`detectable`: the smallest share of answers a fault must change for these to show it with 80 %."""

    identical: Estimate
    same_length: Estimate
    same_finish: Estimate
    detectable: float
    divergences: tuple[Divergence, ...]


def compare(pairs: Iterable[tuple[Request, Request]], score: Score | None, dtype: str) -> Greedy:
    """(arm's, baseline's) answers to the same prompts."""
    pairs = list(pairs)
    answers = {theirs.prompt_id: theirs.output_ids or () for _, theirs in pairs}
    parted = [divergence for ours, theirs in pairs if (divergence := parting(ours, theirs))]
    return Greedy(
        identical=share(len(pairs) - len(parted), len(pairs)),
        same_length=share(sum(a.response_tokens == b.response_tokens for a, b in pairs), len(pairs)),
        same_finish=share(sum(a.finish_reason == b.finish_reason for a, b in pairs), len(pairs)),
        detectable=1 - 0.2 ** (1 / len(pairs)) if pairs else 1.0,
        divergences=tuple(parted if score is None else (judged(d, answers[d.prompt], score, dtype) for d in parted)),
    )


def share(count: int, of: int) -> Estimate:
    """With its Wilson interval."""
    if not of:
        return Estimate.missing("no answers")
    interval = binomtest(count, of).proportion_ci(method="wilson")
    return Estimate(count / of, float(interval.low), float(interval.high), of)


def first_divergence(ours: Sequence[int], theirs: Sequence[int]) -> int | None:
    """The first place where they differ, the end of the shorter one included; None if they are the same."""
    for place, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        if a != b:
            return place
    return None if len(ours) == len(theirs) else min(len(ours), len(theirs))


def parting(ours: Request, theirs: Request) -> Divergence | None:
    """Where two answers part, not yet judged; None for the same answer. With hashes alone the place is not known."""
    if ours.output_ids is None or theirs.output_ids is None:
        same = ours.output_sha256 == theirs.output_sha256
        return None if same else Divergence(ours.prompt_id, None, None, None)
    place = first_divergence(ours.output_ids, theirs.output_ids)
    if place is None:
        return None
    mine, yours = (ids[place] if place < len(ids) else None for ids in (ours.output_ids, theirs.output_ids))
    return Divergence(ours.prompt_id, place, mine, yours)


def judged(seen: Divergence, theirs: tuple[int, ...], score: Score, dtype: str) -> Divergence:
    """Numerics where the target puts both tokens within the tolerance of its best; an answer that just ends is none."""
    assert seen.position is not None
    row = score(seen.prompt, theirs)[seen.position]
    again = score(seen.prompt, theirs[: seen.position])[-1]
    second, best = np.partition(row, -2)[-2:]
    chosen = [float(row[token]) for token in (seen.ours, seen.theirs) if token is not None]
    shortfall = float(best) - min(chosen)
    spread = float(np.abs(row - again).max())
    tolerance = TOLERANCE.get(dtype, TOLERANCE[UNKNOWN_DTYPE])
    near = shortfall <= tolerance and len(chosen) == 2
    return replace(
        seen,
        gap=float(best - second),
        shortfall=shortfall,
        spread=spread,
        tolerance=tolerance,
        judgement="numerics" if near else "bug",
    )
