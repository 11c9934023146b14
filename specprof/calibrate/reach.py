"""Which arms of a run the samples of a calibration reach."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from specprof.records import drafter

Entry: TypeAlias = Mapping[str, Any]
Agree: TypeAlias = Callable[[Entry, Mapping[str, Any], Entry, Mapping[str, Any]], bool]


def same(arm: Entry, ours: Mapping[str, Any], other: Entry, theirs: Mapping[str, Any]) -> bool:
    """Whether the drafters of two arms are one, by path or by weights. Other weights at the same path are no matter
    here: they are a difference of their own."""
    one, two = ({drafter(a), drafter(a, d.get("weights"))} for a, d in ((arm, ours), (other, theirs)))
    return bool(one & two)


def alike(arm: Entry, ours: Mapping[str, Any], other: Entry, theirs: Mapping[str, Any]) -> bool:
    """Whether they may be one: the same but for the draft, of which only the name is known."""
    return drafter({**arm, "draft": None}) == drafter({**other, "draft": None})


def unpriced(costs: Mapping[str, Any], info: Mapping[str, Any], agree: Agree) -> Iterator[str]:
    """What no sample of the costs reaches: costs go on beyond neither the drafts nor the widths that were timed."""
    samples = [sample for item in costs["occasions"] for sample in item["samples"]]
    timed = {sample["arm"] for sample in samples if sample["kind"] == "draft"}
    widest: dict[tuple[int, int], int] = {}
    for sample in samples:
        if sample["kind"] == "round":
            place = (sample["context"], sample.get("batch", 1))
            widest[place] = max(widest.get(place, 0), sample.get("width", 0))
    for id, arm in info["arms"].items():
        if arm.get("method") == "none":
            continue
        k, twins = arm.get("k") or 0, {n: a["k"] for n, a in costs["arms"].items() if agree(arm, info, a, costs)}
        if not twins.keys() & timed:
            yield f"the drafter of arm `{id}` ({arm.get('method')}) was not measured"
        elif k > max(twins.values()):
            yield f"arm `{id}` drafts up to {k} tokens, its drafter was measured up to {max(twins.values())}"
        elif k > min(widest.values(), default=0):
            yield f"arm `{id}` verifies up to {k} tokens, rounds were measured up to {min(widest.values(), default=0)}"
