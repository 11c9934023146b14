"""χ² of token counts: against a known distribution, and between two samples. Independent places add up.

Tokens expected fewer than 5 times share one cell (Cochran 1954), which joins the rarest other cell if it is still too
small. At a place reached by a shared prefix the counts are multinomial given the prefix, so the sum over places is χ².
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2

Floats = NDArray[np.float64]

LEAST = 5  # expected count of a cell
POWER = 0.8


@dataclass(frozen=True, slots=True)
class ChiSquare:
    """`n` counts tokens (of two samples: half their harmonic mean), `places` the prefixes with at least two cells.

    `distance` is the total variation seen and `chance` what a lossless arm shows on average, both means over tokens.
    """

    statistic: float = 0.0
    df: int = 0
    n: float = 0.0
    places: int = 0
    distance: float = 0.0
    chance: float = 0.0

    def __add__(self, other: Self) -> Self:
        n = self.n + other.n
        share = self.n / n if n else 0.0
        return type(self)(
            self.statistic + other.statistic,
            self.df + other.df,
            n,
            self.places + other.places,
            share * self.distance + (1 - share) * other.distance,
            share * self.chance + (1 - share) * other.chance,
        )

    @property
    def p(self) -> float:
        return float(chi2.sf(self.statistic, self.df)) if self.df else 1.0

    def detectable(self, level: float) -> float:
        """The smallest total variation that, at every place, this n would find with 80 % at `level`; 1 without cells.

        Σ(Δ²/p) ≥ 4·TV² (Cauchy-Schwarz), so the noncentrality is at least 4·n·TV² whatever the shape of the fault.
        """
        if not self.df:
            return 1.0
        return min(1.0, math.sqrt(_noncentrality(self.df, level) / (4 * self.n)))


def _noncentrality(df: int, level: float) -> float:
    """The noncentrality at which a χ² test of `level` rejects with probability `POWER`."""
    critical = chi2.isf(level, df)
    return float(brentq(lambda shift: ncx2.sf(critical, df, shift) - POWER, 1e-9, 10 * (critical + 10)))


def goodness_of_fit(counts: Mapping[int, int], probabilities: Floats) -> ChiSquare:
    """Counts by token against the probabilities of all tokens."""
    observed = np.zeros(probabilities.size)
    observed[list(counts)] = list(counts.values())
    n = observed.sum()
    seen, expected = _pooled(n * probabilities, observed, n * probabilities)
    if expected.size < 2:
        return ChiSquare()
    p = expected / n
    return ChiSquare(
        statistic=float((np.square(seen - expected) / expected).sum()),
        df=expected.size - 1,
        n=float(n),
        places=1,
        distance=float(np.abs(seen / n - p).sum() / 2),
        chance=_chance(p, n),
    )


def homogeneity(ours: Mapping[int, int], theirs: Mapping[int, int]) -> ChiSquare:
    """Two samples of the same place; cells by what both together lead each of them to expect."""
    tokens = sorted({*ours, *theirs})
    a, b = (np.array([side.get(token, 0) for token in tokens], float) for side in (ours, theirs))
    if not a.sum() or not b.sum():
        return ChiSquare()
    together = (a + b) / (a + b).sum()
    a, b, p = _pooled(min(a.sum(), b.sum()) * together, a, b, together)
    if p.size < 2:
        return ChiSquare()
    n = a.sum() * b.sum() / (a.sum() + b.sum())
    apart = a / a.sum() - b / b.sum()
    return ChiSquare(
        statistic=float(n * (np.square(apart) / p).sum()),
        df=p.size - 1,
        n=float(n),
        places=1,
        distance=float(np.abs(apart).sum() / 2),
        chance=_chance(p, n),
    )


def _chance(p: Floats, n: float) -> float:
    """Mean total variation of a sample from its own distribution: normal approximation, E|X| = σ·√(2/π)."""
    return float(np.sqrt(2 * p * (1 - p) / (math.pi * n)).sum() / 2)


def _pooled(expected: Floats, *columns: Floats) -> list[Floats]:
    """The columns by cell, in falling order of `expected`."""
    order = np.argsort(-expected, kind="stable")
    own = int((expected >= LEAST).sum())
    rest = expected[order[own:]].sum()
    cells = own if rest < LEAST and own else own + 1
    starts = np.arange(cells)
    return [np.add.reduceat(column[order], starts) for column in columns if order.size]
