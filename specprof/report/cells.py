"""How a figure looks: shared by every report that is read by people."""

from collections.abc import Iterator, Mapping
from typing import Any

from specprof.analysis.estimate import Estimate

MISSING = "–"


def number(value: float | None, digits: int = 2) -> str:
    return MISSING if value is None else f"{value:.{digits}f}"


def interval(estimate: Estimate | None, digits: int = 2) -> str:
    """`1.42 [1.10, 1.74]`; the value alone where there is no interval."""
    return MISSING if estimate is None else interval_of(estimate.value, estimate.low, estimate.high, digits)


def interval_of(value: float | None, low: float | None, high: float | None, digits: int = 2) -> str:
    if value is None or low is None or high is None:
        return number(value, digits)
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def figures(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every figure of a row, as the contract nests it, under its path: for `--detail`."""
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and set(value) == {"value", "low", "high", "n", "reason"}:
            estimate = Estimate(**value)
            yield name, interval(estimate, 3) + (f"  ({estimate.reason})" if estimate.value is None else "")
        elif isinstance(value, Mapping):
            yield from figures(value, f"{name}.")
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            yield name, " ".join(number(item["value"], 3) for item in value)
        elif isinstance(value, list):
            yield name, " ".join(str(item) for item in value) or MISSING
        else:
            yield name, MISSING if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
