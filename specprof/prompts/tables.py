"""Rows of Parquet and CSV files as records. A cell without a value is a field that is not there."""

import codecs
import csv
import io
from collections.abc import Iterator
from typing import Any

from specprof.errors import BadRecordError

ROWS = 256  # per batch of a Parquet file: long conversations stay out of memory
PARQUET = b"PAR1"
_WIDEST_CELL = 2**31 - 1  # the module's own limit is 128 KiB
_NUMBERS = ("output_tokens", "turn")
_DIGITS = 18  # of a number that a field can mean; the interpreter refuses one of thousands

Rows = Iterator[tuple[str, dict[str, Any] | BadRecordError]]


def parquet_rows(stream: io.BufferedReader, name: str) -> Rows:
    """(`file:row N`, row); rows count from 1."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    number = 0
    try:
        table = ParquetFile(stream)
        _check_names(table.schema_arrow.names, name)
        for batch in table.iter_batches(batch_size=ROWS):
            for row in batch.to_pylist():
                number += 1
                yield f"{name}:row {number}", _dense(row)
    except (ArrowException, OSError) as error:  # a page that is damaged is an OSError
        raise BadRecordError(f"{name}:row {number + 1}", f"is no Parquet that can be read: {error}") from error
    if not number:
        raise BadRecordError(name, "has no rows")


def _dense(value: Any) -> Any:
    """Without the nulls that stand for keys which a struct of another row has."""
    if isinstance(value, dict):
        return {key: _dense(inner) for key, inner in value.items() if inner is not None}
    return [_dense(inner) for inner in value] if isinstance(value, list) else value


def csv_rows(stream: io.BufferedReader, name: str) -> Rows:
    """(`file:line` where the row begins, row); the first line names the columns."""
    csv.field_size_limit(_WIDEST_CELL)
    reader = csv.reader(codecs.iterdecode(stream, "utf-8-sig"), strict=True)
    header: list[str] = []
    line, empty = 1, True
    try:
        for row in reader:
            if not header:
                header = row
                _check_names(header, f"{name}:{line}")
            elif row:
                empty = False
                yield f"{name}:{line}", _record(f"{name}:{line}", header, row)
            line = reader.line_num + 1
    except (csv.Error, UnicodeDecodeError) as error:
        hint = "the rest of the file is not read; it must be UTF-8, with commas and with quotes doubled inside quotes"
        raise BadRecordError(f"{name}:{line}", f"is no CSV that can be read: {error}", hint) from error
    if empty:
        raise BadRecordError(name, "has no rows", "the first line names the columns, each line after it is a prompt")


def _check_names(names: list[str], place: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise BadRecordError(place, f"has two columns `{name}`", "rename or drop one of them")


def _record(place: str, header: list[str], row: list[str]) -> dict[str, Any] | BadRecordError:
    if len(row) != len(header):
        return BadRecordError(place, f"has {len(row)} cells, the header {len(header)}", "put quotes round the text")
    cells = {key: cell for key, cell in zip(header, row, strict=True) if cell}
    return cells | {key: int(cells[key]) for key in _NUMBERS if _is_number(cells.get(key, ""))}


def _is_number(cell: str) -> bool:
    return cell.isdecimal() and len(cell) <= _DIGITS
