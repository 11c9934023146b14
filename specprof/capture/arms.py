"""The arms of a run from what a user says: everything that is left out is filled in here and nowhere else."""

from dataclasses import dataclass
from typing import Any

from specprof.errors import UsageError
from specprof.records import BASELINE, DEFAULT_NGRAM, DEFAULT_THRESHOLD, Arm, Capabilities


@dataclass(frozen=True, slots=True)
class Wish:
    """One speculative arm as asked for; None where the user said nothing."""

    method: str | None = None
    draft: str | None = None
    k: int = 4
    schedule: str = "constant"
    threshold: float | None = None
    max_matching_ngram_size: int | None = None
    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None


def arms_for(wish: Wish, capabilities: Capabilities, *, baseline: bool) -> tuple[Arm, ...]:
    """The speculative arm and, with `baseline`, plain decoding. Raises `UsageError` for a wish that changes nothing."""
    method = wish.method or _method(wish, capabilities)
    sampling: dict[str, Any] = {"temperature": wish.temperature, "top_p": wish.top_p, "top_k": wish.top_k}
    speculative = Arm(
        id=f"{method}-k{wish.k}" + ("-confidence" if wish.schedule == "confidence" else ""),
        method=method,
        draft=wish.draft,
        k=wish.k,
        schedule=wish.schedule,
        threshold=_threshold(wish),
        options=_options(wish, method),
        **sampling,
    )
    return (speculative, Arm(id=BASELINE, method="none", **sampling)) if baseline else (speculative,)


def _method(wish: Wish, capabilities: Capabilities) -> str:
    """A draft speaks for `draft_model`; without one, the engine's first method that needs none."""
    if wish.draft is not None:
        return "draft_model"
    free = [name for name in capabilities.methods if name not in ("none", "draft_model")]
    if not free:
        raise UsageError("this engine needs a draft model", "pass `--draft FOLDER`")
    return free[0]


def _threshold(wish: Wish) -> float | None:
    if wish.schedule == "confidence":
        return DEFAULT_THRESHOLD if wish.threshold is None else wish.threshold
    if wish.threshold is not None:
        raise UsageError("`--threshold` without `--schedule confidence` changes nothing", "add it, or leave both out")
    return None


def _options(wish: Wish, method: str) -> dict[str, int]:
    if method == "prompt_lookup":
        return {"max_matching_ngram_size": wish.max_matching_ngram_size or DEFAULT_NGRAM}
    if wish.max_matching_ngram_size is not None:
        raise UsageError(f"`--max-matching-ngram-size` changes nothing for `{method}`", "leave it out")
    return {}
