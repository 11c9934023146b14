"""Interval estimates for ratios of sums over clusters, which are the unit of sampling (rounds are not independent)."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from specprof.analysis.estimate import Estimate

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Numbers = Ints | Floats
Bounds = tuple[float, float]

COUNT: Bounds = (0.0, math.inf)
SHARE: Bounds = (0.0, 1.0)
ANY: Bounds = (-math.inf, math.inf)
LEVEL = 0.95


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
