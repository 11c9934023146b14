"""What the requests of a row cost: each by the costs measured nearest to its own context.

ΣC is linear in the costs. A request's *loads* say how often it pays each of them: α per proposed token, α₀ per round
that drafted, φ per round, and v at each width of the table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import stdtrit

from specprof.analysis.cost import Costs
from specprof.analysis.frame import Frame
from specprof.analysis.intervals import LEVEL, Floats, Ints, Numbers

DRAWS, SEED = 400, 0


@dataclass(frozen=True, slots=True)
class Share:
    """The requests that `costs` price: their places in the row, and their loads (one line per cost)."""

    costs: Costs
    index: Ints
    loads: Floats


@dataclass(frozen=True, slots=True)
class Priced:
    """`cost` is ΣC per request of the row."""

    shares: tuple[Share, ...]
    cost: Floats

    @property
    def regime(self) -> str:
        """The regimes that price a request of the row."""
        return ", ".join(share.costs.regime for share in self.shares)

    @property
    def total_error(self) -> float:
        """Half the width of the 95 % interval of ΣC as far as the costs are uncertain."""
        return calibration_error([(share.costs, share.loads.sum(axis=1)) for share in self.shares])


def beyond(frame: Frame, regimes: Sequence[Costs]) -> str | None:
    """Why the rounds have no price where one draft length was timed: some draft is longer. A shorter one costs as much
    or less, so that the speed-up is rather too low than too high."""
    known = min((costs.longest for costs in regimes if costs.longest is not None), default=None)
    longest = int(frame.rounds.proposed.max(initial=0))
    if known is None or longest <= known:
        return None
    return f"drafts of up to {longest} tokens have no price: none longer than {known} was timed"


def price(frame: Frame, regimes: Sequence[Costs]) -> Priced:
    """An empty row is priced by the first of `regimes`, of which there must be one."""
    nearest = regime_of(frame, regimes)
    found = np.unique(nearest).tolist() or [0]
    shares = tuple(_share(frame, regimes[place], np.flatnonzero(nearest == place)) for place in found)
    cost = np.zeros(len(frame))
    for share in shares:
        cost[share.index] = (share.loads * prices(share.costs)[:, None]).sum(axis=0)
    return Priced(shares, cost)


def regime_of(frame: Frame, regimes: Sequence[Costs]) -> Ints:
    """The place in `regimes` of the context nearest on a log scale to the middle of each request's decoding: prompt
    tokens + half the response."""
    if len(regimes) == 1:
        return np.zeros(len(frame), dtype=np.int64)
    middle = np.maximum(frame.requests.prompt_tokens + frame.requests.response_tokens / 2, 1)
    contexts = np.array([max(costs.context or 1, 1) for costs in regimes])
    nearest: Ints = np.abs(np.log(middle[:, None] / contexts)).argmin(axis=1)
    return nearest


def prices(costs: Costs) -> Floats:
    """One per load."""
    verify = costs.table()[1] if costs.widths else np.array([1.0, costs.beta])
    return np.concatenate([[costs.alpha, costs.alpha_round, costs.phi], verify])


def calibration_error(parts: Sequence[tuple[Costs, Floats]]) -> float:
    """Half the width of the 95 % interval of Σ loads·prices: 0 for given costs, NaN where a spread is unknown.

    Repeats are resampled whole, for all costs of a repeat share its t₁; regimes with as many repeats are resampled
    alike, for their repeats stood next to each other.
    """
    measured = [(costs, loads) for costs, loads in parts if costs.repeats]
    if not measured:
        return 0.0
    fewest = min(len(costs.repeats) for costs, _ in measured)
    if fewest < 2:
        return float("nan")
    totals = np.sum([(_resampled(costs) * loads).sum(axis=1) for costs, loads in measured], axis=0)
    return float(stdtrit(fewest - 1, (1 + LEVEL) / 2) * totals.std())


@lru_cache(maxsize=64)
def _resampled(costs: Costs) -> Floats:
    """Prices by the medians of `DRAWS` resamples of the repeats, one resample per line."""
    repeats = np.array([prices(one) for one in costs.repeats])
    chosen = np.random.default_rng(SEED).integers(len(repeats), size=(DRAWS, len(repeats)))
    medians: Floats = np.median(repeats[chosen], axis=1)
    return medians


def _share(frame: Frame, costs: Costs, index: Ints) -> Share:
    part = frame if index.size == len(frame) else frame.take(index)
    s = part.sums
    return Share(costs, index, np.array([s.proposed, s.ran, s.rounds, *_verify_loads(part, costs)], dtype=np.float64))


def _verify_loads(frame: Frame, costs: Costs) -> Sequence[Numbers]:
    if not costs.widths:
        return frame.sums.rounds, frame.sums.width
    width, owner = frame.rounds.width, np.repeat(np.arange(len(frame)), frame.sums.rounds)
    weights = verify_weights(costs, np.arange(1 + int(width.max(initial=0))))
    return [np.bincount(owner, weights=line[width], minlength=len(frame)) for line in weights]


def verify_weights(costs: Costs, width: Numbers) -> Floats:
    """How v at each of `width` mixes the prices of verification: 1 and β, or the entries of the table."""
    if not costs.widths:
        return np.array([np.ones(width.size), width])
    widths = costs.table()[0]
    left = np.clip(np.searchsorted(widths, width, side="right") - 1, 0, widths.size - 2)
    share = (width - widths[left]) / (widths[left + 1] - widths[left])
    weights = np.zeros((widths.size, width.size))
    weights[left, np.arange(width.size)] = 1 - share
    weights[left + 1, np.arange(width.size)] = share
    return weights
