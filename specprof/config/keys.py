"""Every section and key of the settings, with the kind of its value. Keys are the option names with `-` as `_`."""

import math
from collections.abc import Callable, Mapping

Kind = str | tuple[str, ...]  # a tuple lists the words allowed

_COSTS: Mapping[str, Kind] = {"alpha": "float", "beta": "float", "alpha_round": "float", "phi": "float"}
KEYS: Mapping[str, Mapping[str, Kind]] = {
    "run": {
        "engine": "str",
        "model": "str",
        "draft": "str",
        "method": "str",
        "k": "int",
        "schedule": "str",
        "threshold": "float",
        "temperature": "float",
        "top_p": "float",
        "top_k": "int",
        "prompts": "list",
        "task": "str",
        "baseline": "bool",
        "samples": "int",
        "seed": "int",
        "max_new_tokens": "int",
        "limit": "int",
        "warmup": "int",
        "out": "str",
        "dtype": "str",
        "device": "str",
        "threads": "int",
        "save_text": "bool",
        "max_matching_ngram_size": "int",
        "engine_option": "list",
    },
    "report": {**_COSTS, "by": "str", "detail": "bool", "arm": "list", "format": ("terminal", "markdown")},
    "gate": {**_COSTS, "rules": "list", "inconclusive": ("fail", "warn", "3"), "allow_partial": "bool"},
}
TASK_KEYS = ("pattern", "task")

_TESTS: Mapping[str, Callable[[object], bool]] = {
    "str": lambda value: isinstance(value, str) and bool(value.strip()),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "float": lambda value: isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value),
    "bool": lambda value: isinstance(value, bool),
    "list": lambda value: isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value),
}
_EXPECTED = {
    "str": "text that is not empty",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list of texts",
}


def fits(value: object, kind: Kind) -> bool:
    return value in kind if isinstance(kind, tuple) else _TESTS[kind](value)


def expected(kind: Kind) -> str:
    """What a value of this kind is, for a message."""
    return " or ".join(f'"{word}"' for word in kind) if isinstance(kind, tuple) else _EXPECTED[kind]
