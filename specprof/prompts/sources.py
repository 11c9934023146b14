"""Where records come from: files, gzip, folders and `-`, which is standard input."""

import gzip
import io
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from specprof.errors import UsageError, did_you_mean

STDIN = "-"
_GZIP = b"\x1f\x8b"
# What a folder stands for. Plain text is not among it: a licence or a note would be read as prompts.
_IN_FOLDERS = (".jsonl", ".jsonl.gz", ".json", ".json.gz", ".csv", ".csv.gz", ".parquet")


def files(sources: Iterable[str | Path]) -> Iterator[str | Path]:
    """The sources with each folder replaced by its prompt files, sorted by name."""
    given = list(sources)
    if sum(str(source) == STDIN for source in given) > 1:
        raise UsageError("`-` stands for standard input, which can be read only once", "name it once")
    for source in given:
        if str(source) == STDIN or not Path(source).is_dir():
            yield source
            continue
        visible = (p for p in Path(source).glob("*") if not p.name.startswith("."))
        inside = sorted(p for p in visible if p.name.endswith(_IN_FOLDERS))
        if not inside:
            raise UsageError(f"folder `{source}` has no *.jsonl, *.json, *.csv or *.parquet file", "name the files")
        yield from inside


def stem_of(file: str | Path) -> str:
    return "default" if str(file) == STDIN else Path(Path(file).name.removesuffix(".gz")).stem


def suffix_of(file: str | Path) -> str:
    """The ending that says what is inside, without `.gz`; empty for standard input."""
    return Path(str(file).removesuffix(".gz")).suffix.lower()


def name_of(source: str | Path) -> str:
    return "stdin" if str(source) == STDIN else str(source)


@contextmanager
def opened(source: str | Path) -> Iterator[io.BufferedReader]:
    """The bytes of a source, unzipped where it is gzip by name or by content. What the system refuses, while it is
    opened or inside the block, is a `UsageError`."""
    name = name_of(source)
    try:
        with _raw(source) as stored:
            if str(source).endswith(".gz") or stored.peek(2).startswith(_GZIP):
                with gzip.GzipFile(fileobj=stored) as unzipped:
                    yield io.BufferedReader(cast(io.RawIOBase, unzipped))
            else:
                yield stored
    except FileNotFoundError as error:
        raise UsageError(f"`{name}` does not exist", _near(Path(source))) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UsageError(f"`{name}` is no whole gzip file: {error}", f"test it with `gzip -t {name}`") from error
    except OSError as error:
        raise UsageError(f"`{name}` cannot be read: {error.strerror or error}") from error


def _raw(source: str | Path) -> io.BufferedReader:
    if str(source) == STDIN:
        return io.BufferedReader(io.BytesIO(sys.stdin.buffer.read()))
    return open(source, "rb")


def _near(path: Path) -> str | None:
    return did_you_mean(path.name, (p.name for p in path.parent.glob("*")))
