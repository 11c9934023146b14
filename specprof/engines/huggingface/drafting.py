"""How the drafter of an arm is handed to `generate`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from transformers import GenerationConfig

from specprof.engines.huggingface.load import Loaded
from specprof.engines.huggingface.methods import METHODS
from specprof.records import DEFAULT_THRESHOLD, Arm

TOLD = ("draft_model", "universal", "early_exit", "single_position")  # the others know their k from elsewhere


@contextmanager
def drafting(loaded: Loaded, arm: Arm) -> Iterator[dict[str, Any]]:
    """The arguments of `generate` that name the drafter. Inside, the drafter's own generation config says k, schedule
    and threshold: transformers reads them there and not from the call."""
    arguments: dict[str, Any] = {}
    if METHODS[arm.method].draft:
        arguments["assistant_model"] = loaded.drafts[arm.draft or ""]
    if arm.method == "universal":
        arguments |= {"tokenizer": loaded.tokenizer, "assistant_tokenizer": loaded.draft_tokenizers[arm.draft or ""]}
    if arm.method not in TOLD:
        yield arguments
        return
    drafter = arguments.get("assistant_model", loaded.target)
    before = drafter.generation_config
    drafter.generation_config = GenerationConfig(
        num_assistant_tokens=arm.k,
        num_assistant_tokens_schedule="constant",
        assistant_confidence_threshold=threshold(arm),
    )
    try:
        yield arguments
    finally:
        drafter.generation_config = before


def threshold(arm: Arm) -> float:
    return (arm.threshold or DEFAULT_THRESHOLD) if arm.schedule == "confidence" else 0.0
