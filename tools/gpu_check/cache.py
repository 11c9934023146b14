"""A cache of random keys and values that forgets what a forward pass adds: every pass meets the same context."""

from math import prod
from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer


class Fixed(DynamicLayer):  # type: ignore[misc]
    """`context` places that are filled, with room for `extra` more, allocated once: nothing is copied or grown."""

    def __init__(self, shape: tuple[int, int, int, int], context: int, like: torch.Tensor) -> None:
        super().__init__()
        self.context = context
        self.buffers = [torch.randn(shape, dtype=like.dtype, device=like.device) for _ in range(2)]
        self.keys, self.values = (buffer[:, :, :context] for buffer in self.buffers)
        self.is_initialized = True

    def update(self, keys: torch.Tensor, values: torch.Tensor, *_: Any, **__: Any) -> tuple[torch.Tensor, torch.Tensor]:
        end = self.context + keys.shape[-2]
        for buffer, new in zip(self.buffers, (keys, values), strict=True):
            buffer[:, :, self.context : end] = new
        return self.buffers[0][:, :, :end], self.buffers[1][:, :, :end]


def fixed_cache(model: Any, batch: int, context: int, extra: int) -> DynamicCache:
    cache, shape = DynamicCache(), _shape(model, batch, context + extra)
    weight = model.get_input_embeddings().weight
    cache.layers = [Fixed(shape, context, weight) for _ in range(model.config.num_hidden_layers)]
    return cache


def bytes_of(model: Any, batch: int, places: int) -> int:
    size: int = model.get_input_embeddings().weight.element_size()
    return 2 * int(model.config.num_hidden_layers) * prod(_shape(model, batch, places)) * size


def _shape(model: Any, batch: int, places: int) -> tuple[int, int, int, int]:
    config = model.config
    return batch, config.num_key_value_heads, places, int(config.hidden_size) // config.num_attention_heads
