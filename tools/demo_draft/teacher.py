"""What the target thinks of every place of a text: its likeliest next tokens."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

TOP = 16
BATCH_TOKENS = 4096


@dataclass(frozen=True)
class Lesson:
    """One text with, per place, the `TOP` likeliest next tokens (places, TOP) and their log-probabilities in fp16."""

    kind: str
    ids: list[int]
    prompt: int
    likely: Tensor
    log_probs: Tensor


def padded(texts: Sequence[list[int]]) -> tuple[Tensor, Tensor]:
    """(ids, mask), padded on the right, both (texts, longest)."""
    shape = len(texts), max(map(len, texts))
    ids, mask = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = torch.tensor(text)
        mask[row, : len(text)] = 1
    return ids, mask


@torch.inference_mode()  # type: ignore[untyped-decorator]
def taught(target: Any, texts: Sequence[tuple[str, list[int], int]]) -> Iterator[Lesson]:
    """The texts, shortest first, so that little is padded."""
    texts = sorted(texts, key=lambda text: len(text[1]))
    while texts:
        size = max(1, BATCH_TOKENS // len(texts[0][1]))
        batch, texts = texts[:size], texts[size:]
        ids, mask = padded([text for _, text, _ in batch])
        hidden = target.model(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state[mask.bool()]
        best = [_likeliest(target.lm_head(part).float()) for part in hidden.split(512)]
        likely, log_probs = (
            torch.cat(parts).split([len(text) for _, text, _ in batch]) for parts in zip(*best, strict=True)
        )
        for (kind, text, prompt), tokens, scores in zip(batch, likely, log_probs, strict=True):
            yield Lesson(kind, text, prompt, tokens.clone(), scores.clone())


def _likeliest(logits: Tensor) -> tuple[Tensor, Tensor]:
    top = logits.topk(TOP)
    return top.indices.int(), (top.values - logits.logsumexp(-1, keepdim=True)).half()
