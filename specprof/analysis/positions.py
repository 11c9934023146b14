"""Acceptance by position in the draft."""

from dataclasses import dataclass

import numpy as np

from specprof.analysis.estimate import Estimate
from specprof.analysis.frame import Frame
from specprof.analysis.intervals import Ints
from specprof.analysis.rounds import Rounds

NO_INTERVAL = "interval not computed: position intervals are not built yet"


@dataclass(frozen=True, slots=True)
class Positions:
    """Entry j − 1 is position j: rounds that reached it, and rounds that accepted it. Adds up over shards."""

    reached: Ints
    passed: Ints


def count_positions(rounds: Rounds) -> Positions:
    """A round reaches every position it accepted and the first it rejected; a censored round leaves at its cut, so
    the position behind the cut is neither accepted nor rejected. The lists end with the largest draft."""
    deepest = np.where(rounds.censored, rounds.accepted, np.minimum(rounds.drafted, rounds.accepted + 1))
    longest = int(rounds.drafted.max(initial=0))
    return Positions(reached=_at_least(deepest, longest), passed=_at_least(rounds.accepted, longest))


def survival(frame: Frame, positions: Positions) -> tuple[Estimate, ...]:
    """s_j = Π h_i, h_j = passed/reached: the chance that a draft of at least j tokens has its first j accepted."""
    n = frame.clusters_where(frame.sums.drafting > 0)
    alive: float | None = 1.0
    result = []
    for j, (reached, passed) in enumerate(zip(positions.reached, positions.passed, strict=True), start=1):
        if alive:
            alive = alive * float(passed / reached) if reached else None
        missing = Estimate.missing(f"no round reached position {j}", n)
        result.append(missing if alive is None else Estimate.point(alive, n, NO_INTERVAL))
    return tuple(result)


def _at_least(values: Ints, longest: int) -> Ints:
    """How many values are ≥ 1, ≥ 2, … ≥ `longest`."""
    counts = np.bincount(values, minlength=longest + 1)
    tail: Ints = np.cumsum(counts[::-1])[::-1][1 : longest + 1]
    return tail
