"""What every engine's calibration measures: which drafters, and which widths."""

from collections.abc import Iterable
from dataclasses import replace

from specprof.records import Arm, drafter

DENSE = 8  # matrix kernels change with the number of rows: v(w) has steps, and most drafts are this short


def first_of_each_drafter(arms: Iterable[Arm]) -> list[Arm]:
    """Arms that differ in k alone share a drafter: of each the first, told the largest k of them all."""
    groups: dict[object, list[Arm]] = {}
    for arm in arms:
        if arm.method != "none":
            groups.setdefault(drafter(arm.to_dict()), []).append(arm)
    return [replace(group[0], k=max(arm.k for arm in group)) for group in groups.values()]


def widths_up_to(k: int) -> list[int]:
    """Every width to 8, then 12, 16, 24, 32, … and k itself."""
    wider = [width for power in range(3, k.bit_length()) for width in (3 << power - 1, 4 << power - 1) if width < k]
    return [*range(min(k, DENSE) + 1), *wider, *([k] if k > DENSE else [])]
