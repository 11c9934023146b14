"""The costs of an arm as the report shows them: each with its spread over the repeats, where it was measured."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from specprof.analysis.cost import Costs
from specprof.analysis.estimate import Estimate
from specprof.analysis.frame import Frame
from specprof.analysis.intervals import median

ONE_LENGTH = "drafts of one length were timed: all of their cost is α₀, and that of a token is unknown"
NO_WIDTH = "no round verified a draft token: β has no width to be read at"


@dataclass(frozen=True, slots=True)
class WidthCost:
    width: int
    cost: Estimate


@dataclass(frozen=True, slots=True)
class CostReport:
    """In plain decode steps of the target, each of `step_ms`. An estimate of measured costs counts repeats in n."""

    regime: str
    alpha: Estimate
    alpha_round: Estimate
    beta: Estimate
    phi: Estimate
    per_request: Estimate
    widths: tuple[WidthCost, ...]
    context: int | None
    batch: int | None
    source: str
    step_ms: Estimate


def cost_report(costs: Costs, width: float | None) -> CostReport:
    """`width` is where β is read off a table; None where no round verified a draft."""
    every = costs.repeats or (costs,)

    def spread(values: Iterable[float | None], missing: str) -> Estimate:
        known = [value for value in values if value is not None]
        if not known:
            return Estimate.missing(missing)
        return median(known) if costs.repeats else Estimate.exact(known[0])

    slopes = [None if costs.widths and width is None else one.slope(width or 1) for one in every]
    return CostReport(
        regime=costs.regime,
        alpha=_stated(costs, "alpha", spread((one.alpha for one in every), "")),
        alpha_round=_stated(costs, "alpha_round", spread((one.alpha_round for one in every), "")),
        beta=_stated(costs, "beta", spread(slopes, NO_WIDTH)),
        phi=_stated(costs, "phi", spread((one.phi for one in every), "")),
        per_request=spread((one.per_request for one in every), "not given: it is no part of a round"),
        widths=tuple(WidthCost(w, spread((dict(one.widths)[w] for one in every), "")) for w, _ in costs.widths),
        context=costs.context,
        batch=costs.batch,
        source=costs.source,
        step_ms=spread((one.step_us and one.step_us / 1000 for one in every), "not given"),
    )


def mean_width(frame: Frame) -> float | None:
    """Over the rounds that verified a draft."""
    wide = int(frame.sums.wide.sum())
    return float(frame.sums.width.sum()) / wide if wide else None


def _stated(costs: Costs, name: str, estimate: Estimate) -> Estimate:
    """With the reason why a cost is unknown, or 0 where nobody gave it."""
    if name == "alpha" and costs.longest is not None:
        return Estimate.missing(ONE_LENGTH)
    return replace(estimate, reason="not given: counted as 0") if name in costs.absent else estimate
