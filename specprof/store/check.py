"""The identities of a shard, over whole columns at once."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from specprof.records import MOST_DRAFTED, MOST_VERIFIED
from specprof.store.schema import COUNTS, PER_ROUND, PER_TOKEN, REQUIRED, SUMMED

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
_INT_MAX = 2**31 - 1

IDENTITY = ("request_id", "prompt_id", "sample", "arm", "phase", "complete")
CHECKED = (*IDENTITY, "rounds", *SUMMED, "regenerations", *COUNTS)


def problem(table: pa.Table) -> str | None:
    """The first identity that `table` breaks, with the request and the round; None if it is sound.

    `table` holds at least the `CHECKED` columns. Whether response tokens balance is not judged here.
    """
    return next(_holes(table), None) or next(_lengths(table), None) or next(_identities(table), None)


def _holes(table: pa.Table) -> Iterator[str]:
    for name in REQUIRED:
        if name in table.column_names and table[name].null_count:
            yield f"column `{name}` has empty cells"
    for name in COUNTS:
        if pc.list_flatten(table[name]).null_count:
            yield f"column `{name}` has rounds without a value"


def _lengths(table: pa.Table) -> Iterator[str]:
    for names, expected in ((PER_ROUND, "rounds"), (PER_TOKEN, "proposed_total")):
        wanted = _ints(table[expected])
        for name in set(names) & set(table.column_names):
            lengths = _ints(pc.fill_null(pc.list_value_length(table[name]), -1))
            bad = (lengths != wanted) & (lengths >= 0)
            if bad.any():
                row = int(bad.argmax())
                yield f"request `{_id(table, row)}`: `{name}` has {lengths[row]} entries, `{expected}` is {wanted[row]}"


def _identities(table: pa.Table) -> Iterator[str]:
    ends = np.cumsum(_ints(table["rounds"]))
    for what, broken in _round_faults(table, ends):
        if broken.any():
            index = int(broken.argmax())
            row = int(np.searchsorted(ends, index, side="right"))
            yield f"request `{_id(table, row)}`, round {index - (ends[row - 1] if row else 0)}: {what}"
    for name, values in _per_round_totals(table):
        sums = np.diff(np.concatenate(([0], np.cumsum(values)))[np.concatenate(([0], ends))])
        wrong = sums != _ints(table[name])
        if wrong.any():
            row = int(wrong.argmax())
            yield f"request `{_id(table, row)}`: `{name}` is {table[name][row]}, its rounds add up to {sums[row]}"


def _round_faults(table: pa.Table, ends: Ints) -> Iterator[tuple[str, Bools]]:
    proposed, drafted, accepted, emitted = (_flat(table, name) for name in COUNTS)
    yield "accepted is outside 0..drafted", (accepted < 0) | (accepted > drafted)
    yield f"proposed exceeds {MOST_DRAFTED}", proposed > MOST_DRAFTED
    yield "drafted exceeds proposed", drafted > proposed
    yield "emitted is outside accepted..accepted + 1", (emitted < accepted) | (emitted > accepted + 1)
    inner = np.ones(len(emitted), dtype=np.bool_)
    inner[ends[ends > 0] - 1] = False
    yield "cut inside its accepted tokens, which only the last round can be", inner & (emitted <= accepted)
    for name, most, bound in (("width", MOST_VERIFIED, MOST_VERIFIED), ("accepted_raw", "drafted", drafted)):
        if name in table.column_names:
            values = _where_known(table, name)
            yield f"{name} exceeds {most}", (values > bound) & (values < _INT_MAX)
    for name, least, counts in (("width", "drafted", drafted), ("accepted_raw", "accepted", accepted)):
        if name in table.column_names:
            yield f"{name} is below {least}", _where_known(table, name) < counts


def _per_round_totals(table: pa.Table) -> Iterator[tuple[str, Ints]]:
    for name in COUNTS:
        yield f"{name}_total", _flat(table, name)
    _, drafted, accepted, emitted = (_flat(table, name) for name in COUNTS)
    yield "regenerations", ((accepted < drafted) & (emitted > accepted)).astype(np.int64)


def _where_known(table: pa.Table, name: str) -> Ints:
    """One value per round of an optional list column; the greatest integer where it is null."""
    values = np.full(int(_ints(table["rounds"]).sum()), _INT_MAX, dtype=np.int64)
    known = np.repeat(table[name].is_valid().to_numpy(), _ints(table["rounds"]))
    values[known] = _ints(pc.fill_null(pc.list_flatten(table[name]), _INT_MAX))
    return values


def _flat(table: pa.Table, name: str) -> Ints:
    return _ints(pc.list_flatten(table[name]))


def _ints(column: pa.ChunkedArray) -> Ints:
    values: Ints = column.to_numpy().astype(np.int64)
    return values


def _id(table: pa.Table, row: int) -> Any:
    return table["request_id"][row]
