"""Whether a loaded model really leaves after a layer when it is told to."""

from typing import Any

import torch

from specprof.errors import UsageError


def check_exit(target: Any, layer: int) -> None:
    """Raise `UsageError` for a model that ignores it: transformers lowers `num_hidden_layers` to leave early."""
    config = getattr(target, target.base_model_prefix).config
    whole = config.num_hidden_layers
    config.num_hidden_layers = layer
    try:
        token = torch.zeros((1, 1), dtype=torch.long, device=target.device)
        with torch.no_grad():
            states = target(token, output_hidden_states=True, use_cache=False).hidden_states
    finally:
        config.num_hidden_layers = whole
    if len(states) != layer + 1:
        raise UsageError(
            f"`{target.config.name_or_path}` ({target.config.model_type}) runs {len(states) - 1} layers when told to "
            f"leave after {layer}",
            "early exit needs a model of the Llama family",
        )
