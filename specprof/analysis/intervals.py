"""Interval estimates for ratios of sums over clusters, which are the unit of sampling (rounds are not independent)."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, stdtrit

from specprof.analysis.estimate import Estimate

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Numbers = Ints | Floats
Bounds = tuple[float, float]

COUNT: Bounds = (0.0, math.inf)
SHARE: Bounds = (0.0, 1.0)
ANY: Bounds = (-math.inf, math.inf)
LEVEL = 0.95
FEWEST_FOR_MEDIAN = 6


def ratio(x: Numbers, y: Numbers, cluster: Ints, *, bounds: Bounds = COUNT, empty: str = "no rounds") -> Estimate:
    """Σx / Σy with its linearised interval; `x`, `y` and the cluster code have one entry per request.

    Variance n/(n−1)·Σ(xᵢ − r·yᵢ)²/(Σy)² over cluster sums (Cochran, Sampling Techniques, 3rd ed., §6.3), t with
    n−1 degrees. Clusters that add nothing to either sum say nothing about the ratio and do not count in n.
    `empty` is the reason where Σy is not positive.
    """
    top, bottom = _by_cluster(cluster, x, y)
    total = float(bottom.sum())
    if total <= 0:
        return Estimate.missing(empty)
    value = float(top.sum()) / total
    return _interval(value, (top - value * bottom) / total, bounds)


def ratio_of_ratios(a: Numbers, b: Numbers, c: Numbers, d: Numbers, cluster: Ints, *, empty: str) -> Estimate:
    """(Σa/Σb) / (Σc/Σd) with its linearised interval: the first-order term of each cluster is
    r·(aᵢ/Σa − bᵢ/Σb − cᵢ/Σc + dᵢ/Σd). `empty` is the reason where one of the sums is not positive."""
    parts = _by_cluster(cluster, a, b, c, d)
    totals = parts.sum(axis=1)
    if not (totals > 0).all():
        return Estimate.missing(empty)
    shares = parts / totals[:, None]
    value = float(totals[0] / totals[1] / (totals[2] / totals[3]))
    return _interval(value, value * (shares[0] - shares[1] - shares[2] + shares[3]), COUNT)


def median(values: Sequence[float]) -> Estimate:
    """The median with its order-statistic interval: the d-th smallest to the d-th largest value, d as large as still
    covers 95 % for any distribution (David and Nagaraja, Order Statistics, 3rd ed., §7.1). `n` counts the values."""
    n = len(values)
    if not n:
        return Estimate.missing("no repeats")
    if n < FEWEST_FOR_MEDIAN:
        return Estimate.point(
            float(np.median(values)), n, f"the interval of a median needs {FEWEST_FOR_MEDIAN} repeats"
        )
    cut = int((2 * bdtr(np.arange(n // 2), n, 0.5) <= 1 - LEVEL).sum())
    ordered = np.sort(values)
    return Estimate(float(np.median(values)), low=float(ordered[cut - 1]), high=float(ordered[n - cut]), n=n)


def widened(estimate: Estimate, half: float, bounds: Bounds = COUNT) -> Estimate:
    """With the half-width `half` of an independent error added in quadrature; NaN is an error of unknown size."""
    value, low, high = estimate.value, estimate.low, estimate.high
    if value is None or low is None or high is None or half == 0:
        return estimate
    if math.isnan(half):
        return replace(estimate, low=None, high=None, reason="the costs rest on 1 repeat: their spread is unknown")
    low, high = value - math.hypot(value - low, half), value + math.hypot(high - value, half)
    return replace(estimate, low=max(bounds[0], low), high=min(bounds[1], high))


def _by_cluster(cluster: Ints, *columns: Numbers) -> Floats:
    """One row per column, one column per cluster that adds something to at least one of the sums."""
    sums = np.array([np.bincount(cluster, weights=column) for column in columns])
    informative: Floats = sums[:, (sums != 0).any(axis=0)]
    return informative


def _interval(value: float, deviations: Floats, bounds: Bounds) -> Estimate:
    n = deviations.size
    if n < 2:
        return Estimate(value, n=n, reason="1 cluster: an interval needs at least 2")
    error = math.sqrt(n / (n - 1) * float(np.square(deviations).sum()))
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * error
    low, high = bounds
    return Estimate(value, low=max(low, value - half), high=min(high, value + half), n=n)
