"""The arms of a run from what a user says: everything that is left out is filled in here and nowhere else."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from specprof.capture.arm_text import parse_arm, parse_ks
from specprof.errors import UsageError
from specprof.records import BASELINE, DEFAULT_NGRAM, DEFAULT_THRESHOLD, Arm, Capabilities

NEEDS_DRAFT = ("draft_model", "universal", "dflash", "single_position")
DEFAULT_K, DEFAULT_SCHEDULE = "4", "constant"
NGRAM = "max_matching_ngram_size"


@dataclass(frozen=True, slots=True)
class Wish:
    """What the flags say, None where the user said nothing. `arm` holds the texts of `--arm`; every other field is
    what an arm that leaves it out takes. Sampling is the run's: the same for every arm."""

    arm: Sequence[str] | None = None
    method: str | None = None
    draft: str | None = None
    k: str | None = None
    schedule: str | None = None
    threshold: float | None = None
    max_matching_ngram_size: int | None = None
    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None

    @property
    def sampling(self) -> dict[str, Any]:
        return {"temperature": self.temperature, "top_p": self.top_p, "top_k": self.top_k}


def arms_for(wish: Wish, capabilities: Capabilities, *, baseline: bool) -> tuple[Arm, ...]:
    """The speculative arms and, with `baseline`, plain decoding. Raises `UsageError` for an arm that cannot be read,
    for two that do not differ and for a flag that changes nothing."""
    ks = parse_ks(wish.k or DEFAULT_K)
    asked = [parse_arm(text) for text in wish.arm or ()]
    _refuse_overruled(wish, [own for _, own in asked])
    arms = [arm for name, own in asked or [("", {})] for arm in _sweep(name, own, ks, wish, capabilities)]
    _refuse_idle(wish, arms)
    _refuse_twins(arms)
    return (*arms, Arm(id=BASELINE, method="none", **wish.sampling)) if baseline else tuple(arms)


def _sweep(name: str, own: dict[str, Any], ks: Sequence[int], wish: Wish, capabilities: Capabilities) -> list[Arm]:
    """An arm per k of `--k`, unless it names its own."""
    if "k" in own:
        return [_arm(name, own, wish, capabilities)]
    names = [f"{name}-k{k}" if name and len(ks) > 1 else name for k in ks]
    return [_arm(name, own | {"k": k}, wish, capabilities) for name, k in zip(names, ks, strict=True)]


def _arm(name: str, own: dict[str, Any], wish: Wish, capabilities: Capabilities) -> Arm:
    method = own.get("method") or wish.method or _method(own.get("draft") or wish.draft, capabilities)
    inherits = method in NEEDS_DRAFT or "method" not in own
    arm = Arm(
        id=name,
        **{
            "method": method,
            "draft": wish.draft if inherits else None,
            "schedule": wish.schedule or DEFAULT_SCHEDULE,
            "options": {},
            **wish.sampling,
            **own,
        },
    )
    arm = replace(
        arm,
        id=name or f"{method}-k{arm.k}" + ("-confidence" if arm.schedule == "confidence" else ""),
        threshold=_threshold(arm, wish),
    )
    if method == "prompt_lookup":
        ngram = wish.max_matching_ngram_size or DEFAULT_NGRAM
        arm = replace(arm, options={NGRAM: ngram, **arm.options})
    return arm


def _method(draft: str | None, capabilities: Capabilities) -> str:
    """A draft speaks for `draft_model`; without one, the engine's first method that needs none."""
    if draft is not None:
        return "draft_model"
    free = [name for name in capabilities.methods if name not in ("none", *NEEDS_DRAFT)]
    if not free:
        raise UsageError("this engine needs a draft model", "pass `--draft FOLDER`")
    return free[0]


def _threshold(arm: Arm, wish: Wish) -> float | None:
    if arm.schedule != "confidence" and arm.threshold is not None:
        raise UsageError(
            f"arm `{arm.id}` has threshold {arm.threshold}, but schedule `{arm.schedule}` knows none",
            "add `schedule=confidence` to it",
        )
    if arm.schedule != "confidence" or arm.threshold is not None:
        return arm.threshold
    return DEFAULT_THRESHOLD if wish.threshold is None else wish.threshold


def _refuse_overruled(wish: Wish, asked: Sequence[Mapping[str, Any]]) -> None:
    """A flag for which every arm has a word of its own."""
    for name in ("method", "draft", "k", "schedule", "threshold") if asked else ():
        value = getattr(wish, name)
        if value is not None and all(name in own for own in asked):
            hint = "leave it out of one or the other"
            raise UsageError(f"`--{name} {value}` changes nothing: every arm names its own {name}", hint)


def _refuse_idle(wish: Wish, arms: Sequence[Arm]) -> None:
    """A flag that no arm takes is a mistake of the user's, not a thing to pass over."""
    if wish.threshold is not None and all(arm.threshold != wish.threshold for arm in arms):
        raise UsageError("`--threshold` without `--schedule confidence` changes nothing", "add it, or leave both out")
    ngram = wish.max_matching_ngram_size
    if ngram is not None and all(arm.options.get(NGRAM) != ngram for arm in arms):
        methods = ", ".join(f"`{method}`" for method in dict.fromkeys(arm.method for arm in arms))
        raise UsageError(f"`--max-matching-ngram-size` changes nothing for {methods}", "leave it out")
    if wish.draft is not None and all(arm.draft != wish.draft for arm in arms):
        raise UsageError(f"no arm takes `--draft {wish.draft}`", "leave it out, or an arm without a draft of its own")


def _refuse_twins(arms: Sequence[Arm]) -> None:
    for one, other in combinations(arms, 2):
        if one.id == other.id:
            raise UsageError(f"two arms are called `{one.id}`", "give every `--arm` a name of its own")
        if _resolved(one) == _resolved(other):
            hint = "change one of them; `--repeat` gives more answers per prompt"
            raise UsageError(f"arms `{one.id}` and `{other.id}` differ in nothing but the name", hint)


def _resolved(arm: Arm) -> Arm:
    """Without its name, and with one path for all that lead to its draft; a name of the hub stays one of its own."""
    return replace(arm, id="", draft=arm.draft and os.path.realpath(arm.draft))
