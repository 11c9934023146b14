"""What a check found, and the time that is left for more of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

PASS, FAIL, SKIPPED = "PASS", "FAIL", "SKIPPED"


@dataclass(frozen=True)
class Table:
    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Finding:
    """`seen` is one line for people, `faults` is empty where all is well, `left_out` names what there was no time or
    memory for. `figures` is JSON-ready."""

    seen: str
    faults: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    figures: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """`why` is the reason of a FAIL or SKIPPED."""

    title: str
    verdict: str
    why: str = ""
    finding: Finding | None = None
    seconds: float = 0.0


class Budget:
    def __init__(self, seconds: float) -> None:
        self._end = monotonic() + seconds

    @property
    def left(self) -> float:
        return max(0.0, self._end - monotonic())

    def fits(self, seconds: float) -> bool:
        return seconds <= self.left
