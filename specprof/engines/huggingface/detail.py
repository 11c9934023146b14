"""What draft and target thought of every proposed token, read off the logits at the boundary."""

from collections.abc import Sequence
from typing import Any


def token_detail(draft: Sequence[int], logits: Any, scores: Any) -> dict[str, Any]:
    """Fields of `Round`. `logits`, None where the drafter has none, and `scores` are of shape (1, tokens or more,
    vocabulary), and as draft and verification used them: after temperature, top_k and top_p."""
    confidence = None if logits is None else _probabilities(draft, logits)
    return {"draft_ids": tuple(draft), "confidence": confidence, "target_prob": _probabilities(draft, scores)}


def _probabilities(draft: Sequence[int], logits: Any) -> tuple[float, ...]:
    return tuple(float(logits[0, row].float().softmax(-1)[token]) for row, token in enumerate(draft))
