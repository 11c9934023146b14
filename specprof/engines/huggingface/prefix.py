"""A text whose prefill is done once, however often `generate` goes on from it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import wraps
from typing import Any

import torch
from transformers import DynamicCache, GenerationConfig

from specprof.engines.huggingface.load import Loaded
from specprof.engines.huggingface.text import encode, render
from specprof.errors import UsageError
from specprof.records import Prompt


class Prefix:
    """The first `context` tokens of `text` in a cache of `model`. Layers never write into the tensors they hold: copies
    of them share memory and still go their own ways."""

    def __init__(self, model: Any, text: torch.Tensor, context: int) -> None:
        self.text, self.context = text, context
        self._cache: Any = None
        if not model.config.is_encoder_decoder:
            self._cache = DynamicCache(config=model.config.get_text_config(decoder=True))
            self._cache.activate_past_recording()
            once = GenerationConfig(max_new_tokens=1, do_sample=False)
            ids = text[:, :context]
            model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=once, cache=self._cache)

    def inputs(self, start: int, reuse: bool) -> dict[str, Any]:
        """Arguments of `generate` to go on after `start` tokens, at most `context`; the last one is not cached yet."""
        ids = self.text[:, :start]
        inputs = {"inputs": ids, "attention_mask": torch.ones_like(ids)}
        if reuse and self._cache is not None and start > 1:
            inputs["cache"] = self._fork(self.context - start + 1)
        return inputs

    def _fork(self, without: int) -> Any:
        fork = copy(self._cache)
        fork.layers = [copy(layer) for layer in self._cache.layers]
        fork.crop(-without)
        return fork


@contextmanager
def only_new_tokens(model: Any) -> Iterator[None]:
    """Assisted generation of transformers 5.24 feeds the whole text to a cache that holds most of it already."""
    original = model.prepare_inputs_for_generation

    @wraps(original)  # generate reads its signature
    def sliced(input_ids: Any, next_sequence_length: int | None = None, cache: Any = None, **kwargs: Any) -> Any:
        if next_sequence_length is None and cache is not None and not model.config.is_encoder_decoder:
            next_sequence_length = input_ids.shape[1] - cache.get_seq_length()
        return original(input_ids, next_sequence_length=next_sequence_length, cache=cache, **kwargs)

    model.prepare_inputs_for_generation = sliced
    try:
        yield
    finally:
        del model.prepare_inputs_for_generation


def joined(loaded: Loaded, prompts: Sequence[Prompt], length: int) -> torch.Tensor:
    """The prompts one after the other, and again from the first, until they have `length` tokens."""
    ids: list[int] = []
    while len(ids) < length:
        before = len(ids)
        for prompt in prompts:
            ids += encode(loaded.tokenizer, prompt, render(loaded.tokenizer, prompt))
            if len(ids) >= length:
                break
        if len(ids) == before:
            raise UsageError("the prompts have no tokens to calibrate on", "pass `--prompts FILE`")
    return torch.tensor([ids[:length]], device=loaded.target.device)
