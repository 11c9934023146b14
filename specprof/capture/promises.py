"""What an engine returns, held against what it was asked, before any of it is written."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from types import UnionType
from typing import Any, get_args, get_origin

from specprof.engines.base import CountsTokens, Engine
from specprof.errors import EnvironmentError_
from specprof.records import CENSOR_REASONS, FINISH_REASONS, Job, Prompt, Request, Round

IDENTITY = (
    *("prompt_id", "arm", "task", "sample", "seed", "phase", "max_tokens", "complete"),
    *("conversation_id", "turn", "labels"),
)
_WORDS = {"finish_reason": FINISH_REASONS, "censor_reason": CENSOR_REASONS}
_MOST = 2**31  # of a count or an id: 32 bits
_MOST_US = 2**62
_MOST_FLOAT = 1e11  # seconds since the epoch far beyond any calendar


def described(engine: Engine) -> dict[str, Any]:
    """`describe()`, as `run.json` can hold it."""
    found = engine.describe()
    try:
        return dict(json.loads(json.dumps(found)))
    except (TypeError, ValueError) as error:
        hint = "if the engine is your own, let it return a dict of JSON values"
        raise EnvironmentError_(f"the engine's `describe()` is no JSON object: {error}", hint) from error


def counter(engine: Engine) -> Callable[[Prompt], int] | None:
    """Its `count_tokens`, if it has one. Raises `EnvironmentError_` at a number that is none."""
    if not isinstance(engine, CountsTokens):
        return None

    def count(prompt: Prompt) -> int:
        tokens = engine.count_tokens(prompt)
        if not _fits(tokens, int, _MOST):
            raise EnvironmentError_(f"the engine's `count_tokens` gives {tokens!r} for prompt `{prompt.id}`")
        return tokens

    return count


def fault(request: Request, job: Job) -> str | None:
    """The first thing in which a request is not the job's, or is no number, in words."""
    expected = Request.of(job, prompt_tokens=0, response_tokens=0)
    for name in IDENTITY:
        found, wanted = getattr(request, name), getattr(expected, name)
        if type(found) is not type(wanted) or found != wanted:
            return f"{name} is {found!r}, the job's is {wanted!r}"
    for name, words in _WORDS.items():
        if (word := getattr(request, name)) is not None and word not in words:
            return f"{name} is {word!r}, none of {', '.join(words)}"
    return misfit(request) or next(filter(None, map(misfit, request.rounds)), None)


def misfit(record: object) -> str | None:
    """The first field that cannot be stored: of another type, negative, not finite or beyond its bits."""
    if not isinstance(record, Request | Round):
        return f"{record!r:.60} is no round"
    for field in fields(record):
        value, most = getattr(record, field.name), _MOST_US if field.name.endswith("_us") else _MOST
        if field.name not in IDENTITY and not _fits(value, field.type, most):
            return f"{field.name} is {value!r:.60}, which is no {_words(field.type)} that can be stored"
    return None


def _fits(value: object, kind: Any, most: int) -> bool:
    if isinstance(kind, UnionType):
        return any(_fits(value, one, most) for one in get_args(kind))
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin is int:
        return type(value) is int and 0 <= value < most
    if origin is float:
        return isinstance(value, float | int) and 0 <= value < _MOST_FLOAT
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(item, inner[0], most) for item in value)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(
            _fits(key, inner[0], most) and _fits(item, inner[1], most) for key, item in value.items()
        )
    if origin is str:
        return isinstance(value, str) and _encodes(value)
    return isinstance(value, origin)


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _words(kind: Any) -> str:
    return str(getattr(kind, "__name__", kind)) if not get_args(kind) else str(kind).replace("specprof.records.", "")
