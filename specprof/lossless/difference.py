"""Means compared prompt by prompt, and p-values corrected for their number."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from specprof.analysis.estimate import Estimate

Pair = tuple[Sequence[float], Sequence[float]]
LEAST_ANSWERS = 20  # to a prompt on each side: with few, answers that happen to agree look like no spread at all


@dataclass(frozen=True, slots=True)
class Difference:
    """`p` is None where nothing could differ."""

    mean: Estimate
    p: float | None


def paired(pairs: Iterable[Pair]) -> Difference:
    """Mean over prompts of (arm's mean − baseline's mean), from the answers of each to one prompt.

    The prompts are fixed and the answers to one are independent, so the variance is that of answers within a prompt;
    t with the degrees that they leave. Prompts with fewer than `LEAST_ANSWERS` answers on a side are left out.
    """
    kept = [(np.asarray(a, float), np.asarray(b, float)) for a, b in pairs if min(len(a), len(b)) >= LEAST_ANSWERS]
    if not kept:
        return Difference(Estimate.missing(f"no prompt with {LEAST_ANSWERS} answers on each side"), None)
    value = float(np.mean([a.mean() - b.mean() for a, b in kept]))
    variance = sum(side.var(ddof=1) / side.size for pair in kept for side in pair) / len(kept) ** 2
    if not variance:
        return Difference(Estimate.exact(value, n=len(kept)), 0.0 if value else None)
    df = sum(side.size - 1 for pair in kept for side in pair)
    error = math.sqrt(variance)
    half = float(student.isf(0.025, df)) * error
    p = float(2 * student.sf(abs(value) / error, df))
    return Difference(Estimate(value, value - half, value + half, len(kept)), p)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjusted p-values: rejecting those below a level errs at most that often over all of them (Holm 1979)."""
    ordered = sorted(p_values, key=p_values.__getitem__)
    adjusted, highest = {}, 0.0
    for place, name in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - place) * p_values[name]))
        adjusted[name] = highest
    return adjusted
