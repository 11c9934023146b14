"""The JSON objects on the lines of a source. Only b"\\n" ends a line: U+2028 may stand inside a string."""

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from specprof.errors import BadRecordError, UsageError, did_you_mean
from specprof.prompts.sources import name_of, opened

_BOM = b"\xef\xbb\xbf"
_ARRAY_HINT = "write one JSON object per line; from a JSON array: `jq -c '.[]' FILE > FILE.jsonl`"


def lines(source: str | Path) -> Iterator[tuple[str, bytes]]:
    """Yield (`file:line`, line) without BOM, line end and blank lines; a source with none is a `BadRecordError`."""
    name = name_of(source)
    empty = True
    try:
        with opened(source) as stream:
            for number, line in enumerate(stream, 1):
                if text := (line.removeprefix(_BOM) if number == 1 else line).strip():
                    empty = False
                    yield f"{name}:{number}", text
    except FileNotFoundError as error:
        raise UsageError(f"`{name}` does not exist", _near(Path(source))) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UsageError(f"`{name}` is no whole gzip file: {error}", f"test it with `gzip -t {name}`") from error
    except OSError as error:
        raise UsageError(f"`{name}` cannot be read: {error.strerror or error}") from error
    if empty:
        raise BadRecordError(name, "is empty", "write one JSON object per line")


def parse(place: str, line: bytes) -> dict[str, Any]:
    """The JSON object on a line, or a `BadRecordError`."""
    try:
        record = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8: byte 0x{line[error.start]:02x} at offset {error.start} of the line"
        raise BadRecordError(place, problem, "save the file as UTF-8") from error
    except json.JSONDecodeError as error:
        hint = _ARRAY_HINT if line.startswith(b"[") else "write one JSON object per line"
        raise BadRecordError(place, f"is not JSON: {error.msg} at column {error.colno}", hint) from error
    except (ValueError, RecursionError) as error:
        raise BadRecordError(place, f"is not JSON that can be read: {error}") from error
    if not isinstance(record, dict):
        raise BadRecordError(place, f"is not a JSON object: {shown(record)}", _ARRAY_HINT)
    if b"\\ud" in line.lower() and not _encodes(record):
        raise BadRecordError(place, "holds half of a surrogate pair (`\\ud…`), which is no character")
    return record


def shown(value: object) -> str:
    """The value as JSON, shortened for a message."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _near(path: Path) -> str | None:
    return did_you_mean(path.name, (p.name for p in path.parent.glob("*")))


def _encodes(record: dict[str, Any]) -> bool:
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
