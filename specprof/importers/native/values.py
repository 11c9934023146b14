"""The values that the fields of a record take, by the types that `Request` and `Round` declare."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any, get_args, get_type_hints

from specprof.errors import BadRecordError
from specprof.prompts.lines import shown
from specprof.records import CENSOR_REASONS, FINISH_REASONS, PHASES, Request, Round

UNKNOWN = "unknown"  # why a round was cut, where the record does not say


@dataclass(frozen=True, slots=True)
class Kind:
    """What a value must be, in words and as a test, and how it is stored."""

    words: str
    test: Callable[[Any], bool]
    stored: Callable[[Any], Any] = lambda value: value

    def check(self, field: str, value: object, place: str) -> Any:
        """The value as stored, or a `BadRecordError`."""
        if not self.test(value):
            raise BadRecordError(place, f"has {field} {shown(value)}", f"it must be {self.words}")
        return self.stored(value)


def _whole(value: object, bits: int = 31) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**bits


def _number(value: object, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most


def _name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _line(value: object) -> bool:
    return _name(value) and str(value).isprintable()


def _map(value: object, key: Callable[[str], bool], item: Callable[[object], bool]) -> bool:
    return isinstance(value, dict) and all(key(k) and item(v) for k, v in value.items())


def _word(*words: str) -> Kind:
    return Kind(f"one of {', '.join(words)}", lambda value: value in words)


_WHOLE = Kind("a whole number from 0 to 2³¹ − 1", _whole)
LONG = Kind("a whole number from 0 to 2⁶³ − 1", lambda value: _whole(value, 63))
_ID = Kind("one line of text, or a whole number", lambda value: _line(value) or _whole(value, 63), str)
_NAME = Kind("one line of text that is not empty", _line)
_PROBABILITY = Kind("a number from 0 to 1", lambda value: _number(value, 1), float)
_SECONDS = Kind("seconds since 1970 (not milliseconds)", lambda value: _number(value, 1e11), float)

_BY_TYPE: Mapping[Any, Kind] = {
    int: _WHOLE,
    float: Kind("a number of at least 0", lambda value: _number(value, 1e38), float),
    bool: Kind("true or false", lambda value: isinstance(value, bool)),
    str: Kind("text", lambda value: isinstance(value, str)),
    bytes: Kind(
        "an even number of hex digits",
        lambda value: isinstance(value, str) and bool(re.fullmatch(r"([0-9a-fA-F]{2})+", value)),
        bytes.fromhex,
    ),
    tuple[int, ...]: Kind("a list of whole numbers", lambda v: isinstance(v, list) and all(map(_whole, v)), tuple),
    Mapping[str, str]: Kind(
        "a map of one-line texts", lambda v: _map(v, _line, lambda i: isinstance(i, str) and i.isprintable())
    ),
    Mapping[str, int]: Kind("a map of whole numbers", lambda v: _map(v, _name, _whole)),
    Mapping[int, int]: Kind(
        'a map from number to count: {"0": 3}',
        lambda v: _map(v, lambda key: bool(re.fullmatch("[0-9]{1,9}", key)), _whole),
        lambda v: {int(key): count for key, count in v.items() if count},
    ),
}
_BY_NAME: Mapping[str, Kind] = {
    **dict.fromkeys(("request_id", "engine_request_id", "prompt_id", "conversation_id"), _ID),
    **dict.fromkeys(("arm", "task"), _NAME),
    **dict.fromkeys(("seed", "queue_us", "ttft_us", "latency_us"), LONG),
    "started_at": _SECONDS,
    "phase": _word(*PHASES),
    "finish_reason": _word(*FINISH_REASONS),
    "censor_reason": _word(*CENSOR_REASONS, UNKNOWN),
}


def _declared(record: type) -> dict[str, Any]:
    """Field → its type without None."""
    hints = get_type_hints(record)
    return {
        name: next(part for part in get_args(hint) if part is not NoneType) if NoneType in get_args(hint) else hint
        for name, hint in hints.items()
    }


REQUEST_KINDS = {k: _BY_NAME.get(k) or _BY_TYPE[v] for k, v in _declared(Request).items() if k != "rounds"}
PER_ROUND = {k: _BY_TYPE[v] for k, v in _declared(Round).items() if v in (int, bool)}
PER_TOKEN = {k: _PROBABILITY if float in get_args(v) else _WHOLE for k, v in _declared(Round).items() if get_args(v)}
