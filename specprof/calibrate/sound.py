"""Whether a document is whole and means something: files of costs are edited by hand, and engines are not all ours."""

from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any, TypeGuard

from specprof.records import COST_KINDS, MOST_DRAFTED, CostSample

_NAMES = {field.name for field in fields(CostSample)}
_MOST = 2**31  # of a count
_MOST_US = 1e12  # some eleven days
_LEAST = {"context": 1, "batch": 1, "repeat": 0, "width": 0}
_TEXTS = ("method", "draft", "schedule")
NEEDED = ("plain", "round", "draft")


def problem(content: Mapping[str, Any]) -> str | None:
    """The first thing that is wrong with a document `specprof.costs/1`, in words."""
    arms, occasions = content.get("arms"), content.get("occasions")
    if not isinstance(arms, dict) or not all(map(_is_arm, arms.values())):
        return "has no map of arms that can be"
    for key in ("weights", "machine"):
        if not isinstance(content.get(key), dict | None):
            return f"has no map of {key}"
    if not all(isinstance(entry, dict) for entry in (content.get("weights") or {}).values()):
        return "has no map of weights"
    if not isinstance(content.get("target"), str | None):
        return "has no name of a target"
    if not isinstance(occasions, list) or not occasions:
        return "has no list of occasions"
    return next(filter(None, (_occasion(index, item, arms) for index, item in enumerate(occasions))), None)


def sound(sample: Mapping[str, Any], arms: Collection[str]) -> bool:
    """Whether it is a `CostSample` as a map: a time that can be, of a place that can be, drafted by one of `arms`."""
    values: dict[str, Any] = {"width": 0, "batch": 1, "arm": None, **sample}
    kind, us, arm = values.get("kind"), values.get("us"), values["arm"]
    if not values.keys() <= _NAMES or kind not in COST_KINDS or not is_number(us) or abs(us) > _MOST_US:
        return False
    possible = {"draft": us >= 0, "setup": True}.get(kind, us > 0)  # a set-up is a difference of two times
    drafted = isinstance(arm, str) and arm in arms if kind in ("draft", "setup") else arm is None
    whole = all(type(values.get(name)) is int and least <= values[name] < _MOST for name, least in _LEAST.items())
    return possible and drafted and whole


def is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _occasion(index: int, item: Any, arms: Mapping[str, Any]) -> str | None:
    samples = item.get("samples") if isinstance(item, dict) else None
    if not isinstance(samples, list):
        return f"has no list of samples in occasion {index}"
    if not isinstance(item.get("at"), str | None) or not (item.get("load_1m") is None or is_number(item["load_1m"])):
        return f"has no sound time or load in occasion {index}"
    for number, sample in enumerate(samples):
        if not isinstance(sample, dict) or not sound(sample, arms):
            return f"has no sound sample {number} in occasion {index}"
    lacking = [kind for kind in NEEDED if kind not in {sample["kind"] for sample in samples}]
    return f"has no sample of kind `{lacking[0]}` in occasion {index}" if lacking else None


def _is_arm(arm: Any) -> bool:
    if not isinstance(arm, dict) or not isinstance(arm.get("method"), str):
        return False
    k, options, temperature = arm.get("k"), arm.get("options", {}), arm.get("temperature")
    return (
        all(isinstance(arm.get(name), str | None) for name in _TEXTS)
        and type(k) is int
        and (0 if arm["method"] == "none" else 1) <= k <= MOST_DRAFTED
        and (temperature is None or is_number(temperature))
        and isinstance(options, dict | None)
        and all(isinstance(value, str | int | float | None) for value in (options or {}).values())
    )
