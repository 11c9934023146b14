"""The ways of drafting that transformers has, and what each asks of an arm."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from specprof.errors import UsageError
from specprof.records import DEFAULT_NGRAM, Arm

NGRAM, LAYER, WEIGHT = "max_matching_ngram_size", "early_exit", "assistant_ensemble_weight"


@dataclass(frozen=True, slots=True)
class Method:
    """`draft`: it needs a draft model. `stops`: it can stop at a token it is not sure of."""

    draft: bool = False
    stops: bool = False
    options: tuple[str, ...] = ()


METHODS: Mapping[str, Method] = {
    "none": Method(),
    "draft_model": Method(draft=True, stops=True, options=(WEIGHT,)),
    "prompt_lookup": Method(options=(NGRAM,)),
    "universal": Method(draft=True, stops=True),
    "early_exit": Method(stops=True, options=(LAYER, WEIGHT)),
    "mtp": Method(options=(WEIGHT,)),
    "dflash": Method(draft=True, options=(WEIGHT,)),
    "single_position": Method(draft=True, options=(WEIGHT,)),
}


def _whole(value: Any) -> bool:
    return type(value) is int and value >= 1


def _share(value: Any) -> bool:
    return type(value) is float and 0 < value < 1


_OPTIONS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    NGRAM: (_whole, "it is a whole number, 1 or more"),
    LAYER: (_whole, "it is the number of layers to run, 1 or more"),
    WEIGHT: (_share, "it is above 0 and below 1; leave it out for lossless verification"),
}


def check_options(arm: Arm) -> None:
    """Raise `UsageError` for an option whose value cannot be, and for a layer that is missing."""
    for name, value in arm.options.items():
        sound, hint = _OPTIONS[name]
        if not sound(value):
            raise UsageError(f"arm `{arm.id}` has {name} `{value}`", hint)
    if arm.method == "early_exit" and LAYER not in arm.options:
        raise UsageError(f"arm `{arm.id}` names no layer to exit at", f"add `{LAYER}=LAYERS` to the arm")


def settings(arm: Arm) -> dict[str, Any]:
    """What of a method stands in the generation config."""
    chosen: dict[str, Any] = {}
    if arm.method == "prompt_lookup":
        chosen = {"prompt_lookup_num_tokens": arm.k, NGRAM: arm.options.get(NGRAM, DEFAULT_NGRAM)}
    if arm.method == "early_exit":
        chosen = {"assistant_early_exit": arm.options[LAYER]}
    if arm.method == "mtp":
        chosen = {"use_mtp": True}
    if arm.method == "dflash":
        chosen = {"speculation_type": "dflash"}
    return chosen | ({WEIGHT: arm.options[WEIGHT]} if WEIGHT in arm.options else {})
