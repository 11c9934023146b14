"""The draft: a small Llama whose embeddings are the target's times a projection, so that only the projections ship.

Shapes: target embedding E (vocabulary, 576); `project_in` and `project_out` (576, width); the draft reads E·project_in
and its head is E·project_out.
"""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaModel

WIDTH, LAYERS, HEADS, INNER = 128, 2, 4, 512


def config_of(target: Any) -> LlamaConfig:
    """The draft's configuration: the target's vocabulary, context, rotary base and ends."""
    names = ("vocab_size", "max_position_embeddings", "rope_parameters", "rms_norm_eps", "bos_token_id", "eos_token_id")
    shape = {"hidden_size": WIDTH, "intermediate_size": INNER, "num_hidden_layers": LAYERS}
    heads = {"num_attention_heads": HEADS, "num_key_value_heads": HEADS}
    same = {name: getattr(target, name) for name in names}
    return LlamaConfig(**shape, **heads, **same, pad_token_id=None, tie_word_embeddings=False)


class Student(nn.Module):  # type: ignore[misc]
    """`embedding` is the target's, frozen. Both projections start at its leading right singular vectors."""

    def __init__(self, config: LlamaConfig, embedding: Tensor) -> None:
        super().__init__()
        self.body = LlamaModel(config)
        self.body.embed_tokens = None
        self.register_buffer("embedding", embedding, persistent=False)
        basis = torch.linalg.svd(embedding.float(), full_matrices=False).Vh[:WIDTH].T
        scale = embedding.float().norm(dim=1).mean()
        self.project_in = nn.Parameter((basis / scale).contiguous())
        self.project_out = nn.Parameter(basis.clone().contiguous())

    def forward(self, ids: Tensor, mask: Tensor, vocabulary: Tensor) -> Tensor:
        """Logits of the tokens in `vocabulary`: (places that `mask` keeps, len(vocabulary)), in fp32."""
        inputs = self.embedding[ids] @ self.project_in.to(self.embedding.dtype)
        hidden = self.body(inputs_embeds=inputs, attention_mask=mask, use_cache=False).last_hidden_state[mask.bool()]
        head = self.embedding[vocabulary] @ self.project_out.to(self.embedding.dtype)
        return (hidden.to(head.dtype) @ head.T).float()

    def weights(self) -> dict[str, Tensor]:
        """What ships, in fp16."""
        body = {f"model.{name}": weight for name, weight in self.body.state_dict().items()}
        every = body | {"project_in": self.project_in.data, "project_out": self.project_out.data}
        return {name: weight.to(torch.float16).contiguous() for name, weight in every.items()}
