"""What kind of file a source is, by its name and its first bytes, and the records in it."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from specprof.errors import BadRecordError
from specprof.prompts.array import elements
from specprof.prompts.content import TEXT
from specprof.prompts.lines import BOM, decoded, numbered, parse
from specprof.prompts.sources import name_of, opened, suffix_of
from specprof.prompts.tables import PARQUET, csv_rows, parquet_rows

Records = Iterator[tuple[str, dict[str, Any] | BadRecordError]]


def records(source: str | Path) -> Records:
    """(place, record) of every record; a bad one comes as its error, so that the reading can go on after it. Raises
    `BadRecordError` where it cannot, `UsageError` where the source cannot be read."""
    suffix, name = suffix_of(source), name_of(source)
    with opened(source) as stream:
        start = stream.peek(64)
        if suffix == ".parquet" or start.startswith(PARQUET):
            yield from parquet_rows(stream, name)
        elif suffix == ".csv":
            yield from csv_rows(stream, name)
        elif suffix == ".txt":
            yield from _texts(stream, name)
        elif start.removeprefix(BOM).lstrip().startswith(b"["):
            yield from elements(stream, name)
        else:
            yield from _objects(stream, name)


def _texts(stream: io.BufferedReader, name: str) -> Records:
    """One raw prompt per line."""
    for place, line in numbered(stream, name):
        try:
            yield place, {TEXT: decoded(place, line)}
        except BadRecordError as error:
            yield place, error


def _objects(stream: io.BufferedReader, name: str) -> Records:
    for place, line in numbered(stream, name):
        try:
            yield place, parse(place, line)
        except BadRecordError as error:
            yield place, error
