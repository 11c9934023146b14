"""Rounds as arrays, and their whole-number sums per request."""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import pyarrow as pa

from specprof.analysis.columns import Bools, per_round
from specprof.analysis.intervals import Ints


@dataclass(frozen=True, slots=True)
class Counts:
    """What a round counts."""

    proposed: Ints
    drafted: Ints
    width: Ints
    accepted: Ints
    emitted: Ints
    ran: Ints


@dataclass(frozen=True, slots=True)
class Rounds(Counts):
    """One entry per round, in the order of the requests. `width` and `ran` are filled from the counts where null."""

    @classmethod
    def of(cls, table: pa.Table, lengths: Ints) -> Self:
        nothing = np.zeros(int(lengths.sum()), dtype=np.int64)
        counted = ("proposed", "drafted", "accepted", "emitted")
        proposed, drafted, accepted, emitted = (per_round(table, name, nothing, lengths) for name in counted)
        width = per_round(table, "width", drafted, lengths)
        ran = per_round(table, "drafter_ran", (proposed > 0).astype(np.int64), lengths)
        return cls(proposed, drafted, width, accepted, emitted, ran)

    @property
    def censored(self) -> Bools:
        """Cut inside the accepted tokens by the end of the response: nothing followed them."""
        return self.emitted <= self.accepted


@dataclass(frozen=True, slots=True)
class Sums(Counts):
    """Whole numbers per request, which add up over requests, shards and machines in any order. `drafting…` counts
    rounds with at least one drafted token, `wide` those with a width above 0, `ran` those where the drafter ran."""

    rounds: Ints
    wide: Ints
    drafting: Ints
    drafting_accepted: Ints
    drafting_emitted: Ints
    regenerations: Ints
    censored: Ints

    @classmethod
    def of(cls, rounds: Rounds, lengths: Ints) -> Self:
        drafting = rounds.drafted > 0
        derived = {
            "wide": rounds.width > 0,
            "drafting": drafting,
            "drafting_accepted": rounds.accepted * drafting,
            "drafting_emitted": rounds.emitted * drafting,
            "regenerations": (rounds.accepted < rounds.drafted) & ~rounds.censored,
            "censored": rounds.censored,
        }
        columns = {f.name: getattr(rounds, f.name) for f in fields(rounds)} | derived
        return cls(rounds=lengths, **{name: total_per_request(values, lengths) for name, values in columns.items()})


def total_per_request(values: Any, lengths: Ints) -> Ints:
    """Whole-number sums of consecutive stretches of `lengths` entries; an empty stretch sums to 0."""
    running = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
    ends = np.cumsum(lengths)
    totals: Ints = running[ends] - running[ends - lengths]
    return totals
