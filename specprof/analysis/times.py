"""Times of rounds, summed per request."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa

from specprof.analysis.columns import per_round
from specprof.analysis.intervals import Ints
from specprof.analysis.rounds import total_per_request

UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Times:
    """Microseconds per request, each over the rounds in which it was observed, and how many rounds those are.
    `overhead_us` is what a step takes beyond its draft and its verification, where all three are known (`splits`)."""

    draft_us: Ints
    drafts: Ints
    verify_us: Ints
    verifies: Ints
    step_us: Ints
    steps: Ints
    overhead_us: Ints
    splits: Ints

    @classmethod
    def of(cls, table: pa.Table, lengths: Ints) -> Self:
        nothing = np.full(int(lengths.sum()), UNKNOWN, dtype=np.int64)
        draft, verify, step = (per_round(table, f"{part}_us", nothing, lengths) for part in ("draft", "verify", "step"))
        whole = (draft >= 0) & (verify >= 0) & (step >= 0)
        overhead = np.where(whole, step - draft - verify, 0)
        return cls(
            *_sums(draft, lengths),
            *_sums(verify, lengths),
            *_sums(step, lengths),
            total_per_request(overhead, lengths),
            total_per_request(whole, lengths),
        )


def _sums(times: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    known = times >= 0
    return total_per_request(times * known, lengths), total_per_request(known, lengths)
