"""The JSON objects on the lines of a source. Only b"\\n" ends a line: U+2028 may stand inside a string."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from specprof.errors import BadRecordError
from specprof.prompts.sources import name_of, opened

BOM = b"\xef\xbb\xbf"
HINT = "write one JSON object per line, or one array of objects"


def lines(source: str | Path) -> Iterator[tuple[str, bytes]]:
    """Yield (`file:line`, line) without BOM, line end and blank lines; a source with none is a `BadRecordError`."""
    with opened(source) as stream:
        yield from numbered(stream, name_of(source))


def numbered(stream: Iterable[bytes], name: str) -> Iterator[tuple[str, bytes]]:
    """`lines` of a source that is open."""
    empty = True
    for number, line in enumerate(stream, 1):
        if text := (line.removeprefix(BOM) if number == 1 else line).strip():
            empty = False
            yield f"{name}:{number}", text
    if empty:
        raise BadRecordError(name, "is empty", "write one JSON object per line")


def parse(place: str, line: bytes) -> dict[str, Any]:
    """The JSON object on a line, or a `BadRecordError`."""
    try:
        record = json.loads(decoded(place, line))
    except json.JSONDecodeError as error:
        raise BadRecordError(place, f"is not JSON: {error.msg} at column {error.colno}", HINT) from error
    except (ValueError, RecursionError) as error:
        raise BadRecordError(place, f"is not JSON that can be read: {error}") from error
    return checked(place, record, suspect=b"\\ud" in line.lower())


def decoded(place: str, line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8: byte 0x{line[error.start]:02x} at offset {error.start} of the line"
        raise BadRecordError(place, problem, "save the file as UTF-8") from error


def checked(place: str, record: object, suspect: bool) -> dict[str, Any]:
    """The record, if it is an object of whole characters; `suspect` where its JSON holds an escaped surrogate."""
    if not isinstance(record, dict):
        raise BadRecordError(place, f"is not a JSON object: {shown(record)}", HINT)
    if suspect and not _encodes(record):
        raise BadRecordError(place, "holds half of a surrogate pair (`\\ud…`), which is no character")
    return record


def shown(value: object) -> str:
    """The value as JSON, shortened for a message."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _encodes(record: dict[str, Any]) -> bool:
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
