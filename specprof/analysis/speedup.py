"""Speed-up by the cost model, S = Σe / ΣC, and the two thresholds on mean accepted tokens.

Intervals hold two errors: that of the sampled requests, and that of the costs where those were measured.
"""

import numpy as np

from specprof.analysis.cost_report import NO_WIDTH, ONE_LENGTH, mean_width
from specprof.analysis.estimate import Estimate
from specprof.analysis.frame import Frame
from specprof.analysis.intervals import ANY, Floats, ratio, widened
from specprof.analysis.price import Priced, calibration_error, prices, verify_weights


def speedup(frame: Frame, priced: Priced) -> Estimate:
    """S = Σe / ΣC."""
    total = float(priced.cost.sum())
    empty = "the rounds cost nothing or less: β is too low" if frame.sums.rounds.any() else "no rounds"
    gain = ratio(frame.sums.emitted, priced.cost, frame.requests.cluster, empty=empty)
    return gain if gain.value is None else widened(gain, gain.value * priced.total_error / total)


def cost_per_round(frame: Frame, priced: Priced) -> Estimate:
    """ΣC / rounds: the tokens per round at which S is 1."""
    return _per_round(frame, priced.cost, priced)


def cost_threshold(frame: Frame, priced: Priced) -> Estimate:
    """a* = (ΣC − Σe + Σa)/rounds: mean accepted above it is exactly S > 1."""
    return _per_round(frame, priced.cost - frame.sums.emitted + frame.sums.accepted, priced)


def rule_threshold(frame: Frame, priced: Priced) -> Estimate:
    """1 + α + β, the published rule of thumb; β at the mean width of the rounds that verified a draft. Over several
    regimes the mean, weighed by rounds."""
    width = mean_width(frame)
    if width is None and any(share.costs.widths for share in priced.shares):
        return Estimate.missing(NO_WIDTH)
    if any(share.costs.longest is not None for share in priced.shares):
        return Estimate.missing(ONE_LENGTH)
    rounds = np.array([share.loads[2].sum() for share in priced.shares])
    part = rounds / rounds.sum() if rounds.any() else np.full(rounds.size, 1 / rounds.size)
    loads = [share * _alpha_and_beta(priced, index, width or 1.0) for index, share in enumerate(part)]
    costs = [share.costs for share in priced.shares]
    value = 1 - 1 / (width or 1.0) + sum(float(x @ prices(one)) for x, one in zip(loads, costs, strict=True))
    error = calibration_error(list(zip(costs, loads, strict=True)))
    return widened(Estimate.exact(value, frame.clusters), error, ANY)


def below_break_even(frame: Frame, priced: Priced) -> Estimate:
    """Share of requests with S < 1."""
    losing = _per_request(frame, priced) < 1
    if not losing.size:
        return Estimate.missing("no rounds")
    n = frame.clusters_where(frame.sums.rounds > 0)
    return Estimate.point(float(losing.mean()), n, "interval not computed: share intervals are not built yet")


def has_losing_tail(frame: Frame, priced: Priced) -> bool:
    """The p10 of the requests' own speed-ups is below 1."""
    speedups = _per_request(frame, priced)
    return bool(speedups.size) and float(np.quantile(speedups, 0.1)) < 1


def _alpha_and_beta(priced: Priced, index: int, width: float) -> Floats:
    """Loads that add up to α + v(w)/w."""
    return np.concatenate(
        [[1.0, 0.0, 0.0], verify_weights(priced.shares[index].costs, np.array([width]))[:, 0] / width]
    )


def _per_round(frame: Frame, total: Floats, priced: Priced) -> Estimate:
    rounds = frame.sums.rounds
    mean = ratio(total, rounds, frame.requests.cluster, bounds=ANY)
    return mean if mean.value is None else widened(mean, priced.total_error / float(rounds.sum()), ANY)


def _per_request(frame: Frame, priced: Priced) -> Floats:
    """S of each request whose rounds cost anything."""
    paid = priced.cost > 0
    return np.divide(frame.sums.emitted[paid], priced.cost[paid], dtype=np.float64)
