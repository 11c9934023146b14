"""Flags that an arm raises on every row: what its engine saw, and what its calibration says of itself."""

from collections.abc import Mapping, Sequence
from typing import Any

from specprof.analysis.calibration import costs_from, samples_of
from specprof.analysis.cost import Costs
from specprof.analysis.estimate import Estimate
from specprof.analysis.intervals import median
from specprof.records import FLAGS

LEAST_DRIFT = 0.05  # of t₁ or of a round: less would change no verdict
LEAST_BEND = 0.1  # plain decode steps
NONE = Estimate.exact(0)


def arm_flags(id: str, arm: Mapping[str, Any], info: Mapping[str, Any], regimes: Sequence[Costs]) -> set[str]:
    """`info` is `run.json`, `regimes` the costs that price the arm. Flags of another version are left alone."""
    seen = {flag for flag in info.get("arm_flags", {}).get(id, ()) if flag in FLAGS}
    raised = {
        "adaptive-k": arm.get("schedule") == "confidence",
        "nonlinear": any(nonlinear(costs, arm.get("k") or 0) for costs in regimes),
        "drifted": any(costs.repeats for costs in regimes) and drifted(arm, info),
    }
    return seen | {flag for flag, holds in raised.items() if holds}


def nonlinear(costs: Costs, k: int) -> bool:
    """Some v(w) up to k lies more than `LEAST_BEND` off the line from v(0) to v(k), and its interval excludes 0."""
    widths = [width for width, _ in costs.widths if 0 < width < k]
    bends = (median([dict(one.widths)[width] - 1 - width * one.slope(k) for one in costs.repeats]) for width in widths)
    return any(bend.disjoint(NONE) and abs(bend.value or 0) > LEAST_BEND for bend in bends)


def drifted(arm: Mapping[str, Any], info: Mapping[str, Any]) -> bool:
    """At some context the plain step, or a full round in plain steps, changed by `LEAST_DRIFT` from the first to the
    last occasion of the run, and the two 95 % intervals of the median are disjoint."""
    own = [one for one in info.get("calibration") or () if one["when"] != "file" and one["samples"]]
    if len(own) < 2:
        return False
    first, last = (
        {(costs.context, costs.batch): costs for costs in costs_from(samples_of([one]), arm, info["arms"])}
        for one in (own[0], own[-1])
    )
    return any(_parted(first[place], last[place], arm.get("k") or 0) for place in first.keys() & last.keys())


def full_round(costs: Costs, k: int) -> float:
    """v(k) + α·k + α₀ + φ."""
    return 1 + costs.slope(max(k, 1)) * k + costs.alpha * k + costs.alpha_round + costs.phi


def _parted(before: Costs, after: Costs, k: int) -> bool:
    steps = (median([one.step_us or 0.0 for one in costs.repeats]) for costs in (before, after))
    rounds = (median([full_round(one, k) for one in costs.repeats]) for costs in (before, after))
    return _changed(*steps) or _changed(*rounds)


def _changed(was: Estimate, now: Estimate) -> bool:
    if not was.value or not now.value:
        return False
    return was.disjoint(now) and abs(now.value / was.value - 1) > LEAST_DRIFT
