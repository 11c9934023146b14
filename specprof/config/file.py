"""The settings file of a folder, and the line on which each of its keys stands (tomllib gives none)."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specprof.errors import UsageError

_HEADER = re.compile(r"\s*\[{1,2}([^\[\]]+)\]")
_KEY = re.compile(r"\s*([\w.\-\"' ]+?)\s*=")


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """`table` holds our settings; `root` is its name, empty where the whole file is ours."""

    path: Path
    text: str
    table: Any
    root: tuple[str, ...] = ()

    def place(self, *keys: str, nth: int = 0) -> str:
        """`file:line` of a key, in the nth of repeated tables; of the table around it where the key is not found."""
        wanted = (*self.root, *keys)
        while wanted:
            if found := [number for number, name in _names(self.text) if name == wanted]:
                return f"{self.path}:{found[min(nth, len(found) - 1)]}"
            wanted = wanted[:-1]
        return str(self.path)


def find(folder: Path) -> SettingsFile | None:
    """`specprof.toml`, else pyproject.toml where it has `[tool.specprof]`."""
    path = folder / "specprof.toml"
    if path.is_file():
        text = _read(path)
        return SettingsFile(path, text, _parse(path, text))
    path = folder / "pyproject.toml"
    if path.is_file() and "specprof" in (text := _read(path)):
        tool = _parse(path, text).get("tool", {})
        if isinstance(tool, dict) and "specprof" in tool:
            return SettingsFile(path, text, tool["specprof"], ("tool", "specprof"))
    return None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"`{path}` is not UTF-8: bad byte at offset {error.start}", "save it as UTF-8") from error
    except OSError as error:
        raise UsageError(f"`{path}` cannot be read: {error.strerror}") from error


def _parse(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem, _, at = str(error).rpartition(" (at ")
        number = re.match(r"line (\d+)", at)
        line = number[1] if number else len(text.splitlines())
        raise UsageError(f"`{path}:{line}` is not TOML: {problem}", 'texts need quotes: model = "name"') from error


def _names(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(line, dotted name) of every header and key."""
    header: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        if match := _HEADER.match(line):
            header = _parts(match[1])
            yield number, header
        elif match := _KEY.match(line):
            yield number, header + _parts(match[1])


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip(" \t\"'") for part in dotted.split("."))
