"""What every engine's calibration measures: which drafters, and which widths."""

from collections.abc import Iterable
from dataclasses import replace

from specprof.errors import UsageError
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


def room(k: int) -> int:
    """How many tokens are decoded beyond the context to time every width up to `k`."""
    return sum(widths_up_to(k)) + 2 * k + 8


def longest_context(k: int, limit: int) -> int:
    """The most cached tokens that leave room for the rounds up to `k` within `limit` positions. Raises `UsageError`
    where there is none."""
    if limit <= room(k):
        raise UsageError(
            f"to measure costs up to k = {k} takes {room(k)} tokens beside the context, and the model has {limit}",
            "lower `--k`, or give the costs to the report: `--alpha` and `--beta`",
        )
    return limit - room(k)
