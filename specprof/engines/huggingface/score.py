"""What the target alone thinks of an answer: one plain pass over prompt and answer, without a cache."""

from collections.abc import Sequence
from typing import Any

import torch

from specprof.engines.huggingface.load import Loaded
from specprof.engines.huggingface.text import encode, render
from specprof.errors import BadRecordError
from specprof.records import Prompt


def score(loaded: Loaded, prompt: Prompt, output_ids: Sequence[int]) -> Any:
    """Log-probabilities as `Scores.score` promises them. Raises `BadRecordError` where they do not fit the context."""
    prompt_ids = encode(loaded.tokenizer, prompt, render(loaded.tokenizer, prompt))
    place = prompt.place or prompt.id
    if not prompt_ids:
        raise BadRecordError(place, "has no tokens", "leave it out")
    if len(output_ids) > loaded.room(len(prompt_ids)):
        held = f"{len(prompt_ids)} + {len(output_ids)} tokens, the context {loaded.context}"
        raise BadRecordError(place, f"and its answer hold {held}", "score a shorter answer")
    with torch.inference_mode():
        logits = _logits(loaded, prompt_ids, list(output_ids))
    return logits.float().log_softmax(-1).cpu().numpy()


def _logits(loaded: Loaded, prompt_ids: list[int], output_ids: list[int]) -> Any:
    target = loaded.target

    def row(ids: list[int]) -> Any:
        return torch.tensor([ids], device=target.device)

    if loaded.encoder_decoder:
        answer = row([target.generation_config.decoder_start_token_id, *output_ids])
        return target(input_ids=row(prompt_ids), decoder_input_ids=answer, use_cache=False).logits[0]
    return target(row(prompt_ids + output_ids), use_cache=False, logits_to_keep=len(output_ids) + 1).logits[0]
