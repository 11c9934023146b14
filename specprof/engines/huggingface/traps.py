"""Faults of transformers 5.24 that make the acceptance of an arm misleading: by its settings, or seen in its drafts."""

import math
from collections.abc import Sequence
from typing import Any

from scipy.special import gammaincc

from specprof.engines.huggingface.methods import WEIGHT
from specprof.records import Arm

TWICE = ("draft_model", "universal", "early_exit")  # draft inside a `generate` that warps logits warped already
SURE = 1e-9


def lossy(arm: Arm) -> bool:
    """Whether the verification may keep what the target would not choose. A single-position drafter takes its likeliest
    token and is verified as if it had sampled it."""
    return WEIGHT in arm.options or (arm.method == "single_position" and arm.temperature > 0)


def known(arm: Arm) -> tuple[str, ...]:
    """Flags that follow from the settings of an arm. top_k is not among them: twice is as good as once."""
    sampled = arm.temperature > 0
    squared = arm.method in TWICE and sampled and (arm.temperature != 1 or (arm.top_p or 1) < 1)
    found = {"squared-temperature": squared, "mismatched-tokenizer": arm.method == "universal", "lossy": lossy(arm)}
    return tuple(flag for flag, there in found.items() if there)


class Evidence:
    """Whether the tokens of a sampling drafter come from the logits it reports.

    Let u be the share of the vocabulary's probability on tokens no likelier than the drafted one. If the token was
    sampled from it, P(u ≤ x) ≤ x, so that -Σ ln u over n tokens is at most a Gamma(n) variable (Fisher's method).
    """

    def __init__(self) -> None:
        self._tokens, self._surprise = 0, 0.0

    def add(self, draft: Sequence[int], logits: Any) -> None:
        """`logits` are those of `draft`, of shape (1, tokens, vocabulary)."""
        for token, row in zip(draft, logits[0].float().softmax(-1), strict=True):
            tail = min(float(row[row <= row[token]].sum()), 1.0)
            self._tokens += 1
            self._surprise += -math.log(tail) if tail > 0 else math.inf

    @property
    def inconsistent(self) -> bool:
        return self._tokens > 0 and float(gammaincc(self._tokens, self._surprise)) < SURE
