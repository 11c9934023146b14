"""Speed-up by the cost model, S = Σe / ΣC, and the two thresholds on mean accepted tokens."""

import numpy as np

from specprof.analysis.cost import Costs, request_costs
from specprof.analysis.estimate import Estimate
from specprof.analysis.frame import Frame
from specprof.analysis.intervals import ANY, Floats, ratio


def speedup(frame: Frame, costs: Costs) -> Estimate:
    """S = Σe / ΣC; its interval takes the costs as exact."""
    cost = request_costs(frame, costs)
    empty = "the rounds cost nothing or less: β is too low" if frame.sums.rounds.any() else "no rounds"
    return ratio(frame.sums.emitted, cost, frame.requests.cluster, empty=empty)


def cost_per_round(frame: Frame, costs: Costs) -> Estimate:
    """ΣC / rounds: the tokens per round at which S is 1."""
    return ratio(request_costs(frame, costs), frame.sums.rounds, frame.requests.cluster, bounds=ANY)


def cost_threshold(frame: Frame, costs: Costs) -> Estimate:
    """a* = (ΣC − Σe + Σa)/rounds: mean accepted above it is exactly S > 1."""
    s = frame.sums
    overhead = request_costs(frame, costs) - s.emitted + s.accepted
    return ratio(overhead, s.rounds, frame.requests.cluster, bounds=ANY)


def rule_threshold(frame: Frame, costs: Costs) -> Estimate:
    """1 + α + β, the published rule of thumb."""
    beta = displayed_beta(frame, costs)
    return beta if beta.value is None else Estimate.exact(1 + costs.alpha + beta.value, frame.clusters)


def displayed_beta(frame: Frame, costs: Costs) -> Estimate:
    """β; with a table of widths, its slope at the mean width of the rounds that verified a draft."""
    if not costs.widths:
        return Estimate.exact(costs.beta)
    wide = int(frame.sums.wide.sum())
    if not wide:
        return Estimate.missing("no round verified a draft token: β has no width to be read at")
    return Estimate.exact(costs.slope(float(frame.sums.width.sum()) / wide))


def below_break_even(frame: Frame, costs: Costs) -> Estimate:
    """Share of requests with S < 1."""
    losing = _per_request(frame, costs) < 1
    if not losing.size:
        return Estimate.missing("no rounds")
    n = frame.clusters_where(frame.sums.rounds > 0)
    return Estimate.point(float(losing.mean()), n, "interval not computed: share intervals are not built yet")


def has_losing_tail(frame: Frame, costs: Costs) -> bool:
    """The p10 of the requests' own speed-ups is below 1."""
    speedups = _per_request(frame, costs)
    return bool(speedups.size) and float(np.quantile(speedups, 0.1)) < 1


def _per_request(frame: Frame, costs: Costs) -> Floats:
    """S of each request whose rounds cost anything."""
    cost = request_costs(frame, costs)
    paid = cost > 0
    return np.divide(frame.sums.emitted[paid], cost[paid], dtype=np.float64)
