"""Where the costs of an arm come from: given ones first, then a file of costs, then the run's own calibration."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from specprof.analysis.calibration import Calibration, costs_from, samples_of
from specprof.analysis.cost import Costs

Pricing: TypeAlias = Callable[[Mapping[str, Any]], tuple[Costs, ...]]


def pricing(run: Mapping[str, Any], costs: Costs | Calibration | None) -> Pricing:
    """From `run.json` to what gives the costs of each regime for an arm's entry in it. Of several measured batches the
    one nearest to the arm's concurrency counts."""
    if isinstance(costs, Costs):
        return lambda arm: (costs,)
    source = costs or Calibration(run.get("calibration") or (), run.get("arms", {}))
    samples = samples_of(source.occasions)

    def measured(arm: Mapping[str, Any]) -> tuple[Costs, ...]:
        found = costs_from(samples, arm, source.arms)
        batch = min(
            (one.batch or 1 for one in found), key=lambda batch: abs(batch - (arm.get("concurrency") or 1)), default=1
        )
        return tuple(one for one in found if one.batch == batch)

    return measured
