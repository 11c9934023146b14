"""The text of `--arm NAME=KEY=VALUE,…` and of `--k 2,4,6`."""

import math
import re
import shlex
from collections.abc import Callable
from typing import Any

from specprof.errors import UsageError
from specprof.records import BASELINE

_NAME = re.compile(r"\w[\w.+-]*")  # what a rule of the gate can name: no comma, colon or equals sign
_TYPED: dict[str, tuple[Callable[[str], Any], str]] = {
    "method": (str, ""),
    "draft": (str, ""),
    "schedule": (str, ""),
    "draft_sampling": (str, ""),
    "rejection_method": (str, ""),
    "k": (int, "a whole number; for several, leave it out and pass `--k 2,4,6`"),
    "threshold": (float, "a number"),
    "concurrency": (int, "a whole number"),
}
_SAMPLING = ("temperature", "top_p", "top_k")
_EXAMPLE = "write `--arm NAME=method=draft_model,draft=FOLDER,k=4`"
_QUOTES = 'a value with a comma goes in quotes: draft="a,b"'


def parse_arm(text: str) -> tuple[str, dict[str, Any]]:
    """The name of an arm and the fields of `Arm` that it sets; other keys are its `options`, as int, float, bool or
    text. The first `=` of a pair ends its key."""
    name, equals, rest = text.partition("=")
    name = name.strip()
    if not _NAME.fullmatch(name):
        raise UsageError(f"`--arm {text}` has no usable name", f"letters, digits, `.`, `_`, `+` and `-`; {_EXAMPLE}")
    if name == BASELINE:
        raise UsageError(f"`--arm {text}`: `{BASELINE}` is plain decoding", "pass `--baseline`, or another name")
    if not equals or not rest.strip():
        raise UsageError(f"`--arm {text}` says nothing about `{name}`", _EXAMPLE)
    pairs = _pairs(name, rest)
    if pairs.get("method") == "none":
        raise UsageError(f"arm `{name}` does not draft", "pass `--baseline` for plain decoding")
    fields = {key: _typed(name, key, value) for key, value in pairs.items() if key in _TYPED}
    options = {key: _guessed(value) for key, value in pairs.items() if key not in _TYPED}
    return name, fields | ({"options": options} if options else {})


def parse_ks(text: str) -> tuple[int, ...]:
    """The k of a sweep, in the order given."""
    try:
        ks = tuple(int(item) for item in text.split(","))
    except ValueError as error:
        raise UsageError(f"`--k {text}` is no list of whole numbers", "pass `--k 4` or `--k 2,4,6`") from error
    for k in ks:
        if ks.count(k) > 1:
            raise UsageError(f"`--k {text}` names {k} twice", "name each k once")
    return ks


def _pairs(name: str, text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for item in _items(name, text):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not key or not value:
            raise UsageError(f"arm `{name}`: `{item}` is not KEY=VALUE", f"{_EXAMPLE}; {_QUOTES}")
        if key in pairs:
            raise UsageError(f"arm `{name}` sets `{key}` twice", "leave one out")
        if key in _SAMPLING:
            hint = f"pass `--{key.replace('_', '-')} {value}`: it holds for every arm"
            raise UsageError(f"arm `{name}` sets `{key}`: arms must sample alike to be compared", hint)
        pairs[key] = value
    return pairs


def _items(name: str, text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters, lexer.escape = ",", True, "", ""
    try:
        return list(lexer)
    except ValueError as error:
        raise UsageError(f"arm `{name}`: a quote in `{text}` is never closed", _QUOTES) from error


def _typed(name: str, key: str, value: str) -> Any:
    convert, expected = _TYPED[key]
    try:
        return convert(value)
    except ValueError as error:
        raise UsageError(f"arm `{name}` sets {key} to `{value}`", f"it is {expected}") from error


def _guessed(value: str) -> int | float | bool | str:
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    for convert in (int, float):
        try:
            number = convert(value)
        except ValueError:
            continue
        return number if math.isfinite(number) else value
    return value
