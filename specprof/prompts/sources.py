"""Where records come from: files, gzip, folders and `-`, which is standard input."""

import gzip
import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from specprof.errors import UsageError

STDIN = "-"
_GZIP = b"\x1f\x8b"


def files(sources: Iterable[str | Path]) -> Iterator[str | Path]:
    """The sources with each folder replaced by its *.jsonl and *.jsonl.gz files, sorted by name."""
    for source in sources:
        if str(source) == STDIN or not Path(source).is_dir():
            yield source
            continue
        visible = (p for p in Path(source).glob("*") if not p.name.startswith("."))
        inside = sorted(p for p in visible if p.name.endswith((".jsonl", ".jsonl.gz")))
        if not inside:
            raise UsageError(f"folder `{source}` has no *.jsonl or *.jsonl.gz file", "name the files themselves")
        yield from inside


def stem_of(file: str | Path) -> str:
    return "default" if str(file) == STDIN else Path(Path(file).name.removesuffix(".gz")).stem


def name_of(source: str | Path) -> str:
    return "stdin" if str(source) == STDIN else str(source)


@contextmanager
def opened(source: str | Path) -> Iterator[Iterable[bytes]]:
    """The lines of a source, unzipped where it is gzip by name or by content."""
    with _raw(source) as raw:
        if str(source).endswith(".gz") or raw.peek(2).startswith(_GZIP):
            with gzip.GzipFile(fileobj=raw) as stream:
                yield stream
        else:
            yield raw


def _raw(source: str | Path) -> io.BufferedReader:
    if str(source) == STDIN:
        return io.BufferedReader(io.BytesIO(sys.stdin.buffer.read()))
    return open(source, "rb")
