"""The cost model: a round costs C = v(w) + α·p + α₀·[drafter ran] + φ, in plain decode steps of the target."""

from dataclasses import dataclass

import numpy as np

from specprof.analysis.intervals import Floats, Numbers


@dataclass(frozen=True, slots=True)
class Costs:
    """`alpha` per proposed token, `beta` per verified position beyond the first, `alpha_round` per round in which the
    drafter ran, `phi` per round, `per_request` once per request (no part of C). `absent` names those that were not
    given and are 0 for that reason.

    `widths`, pairs of (width, v(width)), stands in for `beta` where given. Measured costs are medians over `repeats`,
    which hold those of each repeat alone, and any of them may be negative; `step_us` is one plain step. `longest` is
    set where one draft length was timed: α is unknown, `alpha_round` pays for a draft of that many tokens or fewer.
    """

    alpha: float
    beta: float
    alpha_round: float = 0.0
    phi: float = 0.0
    per_request: float | None = None
    widths: tuple[tuple[int, float], ...] = ()
    regime: str = "given"
    context: int | None = None
    batch: int | None = None
    source: str = "given"
    absent: frozenset[str] = frozenset()
    longest: int | None = None
    step_us: float | None = None
    repeats: tuple["Costs", ...] = ()

    def table(self) -> Floats:
        """Two rows, widths from 0 on and v at each; without measured widths the line through 1 with slope β."""
        points = {0: 1.0, **dict(self.widths)} if self.widths else {0: 1.0, 1: 1.0 + self.beta}
        return np.array(sorted(points.items())).T

    def verify(self, width: Numbers) -> Floats:
        """v(w) per entry: 1 at width 0, linear between the table's widths and on beyond the last two."""
        w, v = self.table()
        slope = (v[-1] - v[-2]) / (w[-1] - w[-2]) if w.size > 1 else 0.0
        return np.asarray(np.interp(width, w, v) + slope * np.maximum(width - w[-1], 0.0))

    def slope(self, width: float) -> float:
        """β at a width above 0: (v(w) − 1)/w."""
        return float((self.verify(np.array([width]))[0] - 1) / width) if self.widths else self.beta
