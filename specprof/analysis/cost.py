"""The cost model: a round costs C = v(w) + α·p + α₀·[drafter ran] + φ, in plain decode steps of the target."""

from dataclasses import dataclass

import numpy as np

from specprof.analysis.frame import Frame
from specprof.analysis.intervals import Floats, Numbers
from specprof.errors import UsageError

MOST = 1e6  # plain decode steps; beyond it sums overflow and nothing means anything


@dataclass(frozen=True, slots=True)
class Costs:
    """`alpha` per proposed token, `beta` per verified position beyond the first, `alpha_round` per round in which the
    drafter ran, `phi` per round, `per_request` once per request (no part of C). `absent` names those that were not
    given and are 0 for that reason.

    `widths`, pairs of (width, v(width)), stands in for `beta` where given. β may be negative at long context.
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

    def __post_init__(self) -> None:
        for name in ("alpha", "beta", "alpha_round", "phi"):
            value = getattr(self, name)
            if not abs(value) <= MOST or (value < 0 and name != "beta"):
                flag = f"--{name.replace('_', '-')}"
                raise UsageError(f"`{flag} {value}` is no cost", f"pass `{flag}` as a share of one plain decode step")

    def verify(self, width: Numbers) -> Floats:
        """v(w) per entry: 1 at width 0, linear between the table's widths and on beyond the last two."""
        if not self.widths:
            return np.asarray(1.0 + self.beta * width, dtype=np.float64)
        w, v = np.array(sorted({0: 1.0, **dict(self.widths)}.items())).T
        slope = (v[-1] - v[-2]) / (w[-1] - w[-2]) if w.size > 1 else 0.0
        return np.asarray(np.interp(width, w, v) + slope * np.maximum(width - w[-1], 0.0))

    def slope(self, width: float) -> float:
        """β at a width above 0: (v(w) − 1)/w."""
        return float((self.verify(np.array([width]))[0] - 1) / width) if self.widths else self.beta


def request_costs(frame: Frame, costs: Costs) -> Floats:
    """ΣC per request, from whole-number sums where v is linear."""
    s = frame.sums
    drafting: Floats = costs.alpha * s.proposed + costs.alpha_round * s.ran + costs.phi * s.rounds
    return _verify_costs(frame, costs) + drafting


def _verify_costs(frame: Frame, costs: Costs) -> Floats:
    if not costs.widths:
        return np.asarray(frame.sums.rounds + costs.beta * frame.sums.width, dtype=np.float64)
    owner = np.repeat(np.arange(len(frame)), frame.sums.rounds)
    priced = np.bincount(owner, weights=costs.verify(frame.rounds.width), minlength=len(frame))
    return np.asarray(priced, dtype=np.float64)
