"""Every section and key of the settings, with the kind of its value. Keys are the option names with `-` as `_`."""

import math
import re
from collections.abc import Callable, Mapping

Kind = str | tuple[str, ...]  # a tuple lists the words allowed

_COSTS: Mapping[str, Kind] = {
    "alpha": "float",
    "beta": "float",
    "alpha_round": "float",
    "phi": "float",
    "costs": "str",
}
_TARGET: Mapping[str, Kind] = {  # of every command that drives an engine
    "prompts": "list",
    "engine": "str",
    "engine_option": "list",
    "model": "str",
    "draft": "str",
    "method": "str",
    "arm": "list",
    "k": "ints",
    "schedule": "str",
    "threshold": "float",
    "max_matching_ngram_size": "int",
    "temperature": "float",
    "top_p": "float",
    "top_k": "int",
    "seed": "int",
    "dtype": "str",
    "device": "str",
    "threads": "int",
}
KEYS: Mapping[str, Mapping[str, Kind]] = {
    "run": {
        **_TARGET,
        "task": "str",
        "field": "str",
        "task_field": "str",
        "baseline": "bool",
        "repeat": "int",
        "max_new_tokens": "int",
        "fixed_length": "int",
        "limit": "int",
        "until_n": "int",
        "warmup": "int",
        "calibrate": "bool",
        "costs": "str",
        "detail": ("tokens",),
        "save_text": "bool",
        "out": "str",
    },
    "report": {**_COSTS, "by": "str", "detail": "bool", "arm": "list", "format": ("terminal", "markdown")},
    "calibrate": {
        **_TARGET,
        "contexts": "ints",
        "repeats": "int",
        "task": "str",
        "field": "str",
        "task_field": "str",
        "max_new_tokens": "int",
        "limit": "int",
        "out": "str",
    },
    "verify": {
        **_TARGET,
        "repeat": "int",
        "task": "str",
        "field": "str",
        "task_field": "str",
        "resolution": "float",
        "max_new_tokens": "int",
        "limit": "int",
    },
    "doctor": {
        **{key: kind for key, kind in _TARGET.items() if key != "seed"},
        "baseline": "bool",
        "limit": "int",
        "task": "str",
        "field": "str",
        "task_field": "str",
        "out": "str",
    },
    "gate": {**_COSTS, "rules": "list", "inconclusive": ("fail", "warn", "3"), "allow_partial": "bool"},
}
TASK_KEYS = ("pattern", "task")
_INTS = re.compile(r"\s*\d+\s*(,\s*\d+\s*)*")

_TESTS: Mapping[str, Callable[[object], bool]] = {
    "str": lambda value: isinstance(value, str) and bool(value.strip()),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "ints": lambda value: isinstance(value, int | str) and bool(_INTS.fullmatch(str(value))),
    "float": lambda value: isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value),
    "bool": lambda value: isinstance(value, bool),
    "list": lambda value: isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value),
}
_EXPECTED = {
    "str": "text that is not empty",
    "int": "a whole number",
    "ints": 'a whole number, or several as "2,4,6"',
    "float": "a number",
    "bool": "true or false",
    "list": "a list of texts",
}


def fits(value: object, kind: Kind) -> bool:
    return value in kind if isinstance(kind, tuple) else _TESTS[kind](value)


def expected(kind: Kind) -> str:
    """What a value of this kind is, for a message."""
    return " or ".join(f'"{word}"' for word in kind) if isinstance(kind, tuple) else _EXPECTED[kind]
