"""The one shape of a reported number: value, 95 % interval, clusters behind it, and why something is missing."""

import math
import re
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Estimate:
    """`n` counts the clusters that inform the value, None for a number that no sampling stands behind. A null value or
    a null bound always comes with a `reason`."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    reason: str | None = None

    @classmethod
    def missing(cls, reason: str, n: int | None = None) -> Self:
        return cls(value=None, n=n, reason=reason)

    @classmethod
    def point(cls, value: float, n: int, reason: str) -> Self:
        """A value without an interval. A value that is no finite number is missing: JSON has no word for it."""
        number = float(value)
        return cls(value=number, n=n, reason=reason) if math.isfinite(number) else cls.missing("not a finite number", n)

    @classmethod
    def exact(cls, value: float, n: int | None = None) -> Self:
        """A number without sampling error, such as a given cost."""
        number = float(value)
        return cls(value=number, low=number, high=number, n=n)

    def above(self, bound: float) -> bool | None:
        """True where the whole interval lies above `bound`, False where none of it does, None where it straddles."""
        if self.low is None or self.high is None:
            return None
        if self.low > bound:
            return True
        return False if self.high <= bound else None

    def disjoint(self, other: "Estimate") -> bool:
        """The intervals do not touch; False where one of them is missing."""
        if self.low is None or self.high is None or other.low is None or other.high is None:
            return False
        return self.high < other.low or other.high < self.low


def clusters_to_settle(estimate: Estimate, bound: float) -> int | None:
    """How many more clusters would move the nearer end of the interval to `bound` at the present spread.

    The half-width shrinks with 1/√n. None without an interval or where the value sits on the bound.
    """
    value, low, high, n = estimate.value, estimate.low, estimate.high, estimate.n
    if value is None or low is None or high is None or not n or value == bound:
        return None
    needed = n * (max(high - value, value - low) / abs(value - bound)) ** 2 - n
    return max(0, math.ceil(needed)) if math.isfinite(needed) else None


SETTLED_BY = re.compile(r"about ([\d,]+) more cluster")


def settled_by(more: int) -> str:
    """The sentence for `clusters_to_settle`; `SETTLED_BY` finds its number."""
    return f"about {max(more, 1):,} more cluster{'s' if more > 1 else ''} would settle it at this spread"
