"""The lists of a record → its rounds."""

from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import Any

from specprof.errors import BadRecordError
from specprof.importers.native.values import PER_ROUND, PER_TOKEN, Kind
from specprof.records import Round

_NEVER_NULL = ("proposed", "drafted", "accepted", "emitted", *PER_TOKEN)


def rounds_of(record: Mapping[str, Any], place: str) -> tuple[Round, ...]:
    """One `Round` per entry; `proposed` and `width` default to `drafted`, `emitted` to accepted + 1."""
    columns = {name: _column(record, name, kind, place) for name, kind in PER_ROUND.items() if _given(record, name)}
    drafted, accepted = columns.setdefault("drafted", []), columns.setdefault("accepted", [])
    for name, column in columns.items():
        if len(column) != len(drafted):
            raise BadRecordError(place, f'has {len(column)} entries in "{name}" but {len(drafted)} in "drafted"')
    columns = {"proposed": drafted, "width": drafted, "emitted": [a + 1 for a in accepted]} | columns
    for name, kind in PER_TOKEN.items():
        if _given(record, name):
            columns[name] = _split(_column(record, name, kind, place), columns["proposed"], name, place)
    return tuple(Round(**dict(zip(columns, entry, strict=True))) for entry in zip(*columns.values(), strict=True))


def _given(record: Mapping[str, Any], name: str) -> bool:
    return record.get(name) is not None


def _column(record: Mapping[str, Any], name: str, kind: Kind, place: str) -> list[Any]:
    values = Kind("a list", lambda value: isinstance(value, list)).check(f'"{name}"', record[name], place)
    return [
        None if value is None and name not in _NEVER_NULL else kind.check(f'"{name}"[{index}]', value, place)
        for index, value in enumerate(values)
    ]


def _split(flat: list[Any], proposed: list[int], name: str, place: str) -> list[tuple[Any, ...]]:
    """A flat list with one entry per proposed token, cut into rounds."""
    if len(flat) != sum(proposed):
        raise BadRecordError(place, f'has {len(flat)} entries in "{name}" for {sum(proposed)} proposed tokens')
    return [tuple(flat[start:end]) for start, end in pairwise(accumulate(proposed, initial=0))]
