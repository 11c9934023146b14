"""Whether a model can take part in assisted generation, by its configuration."""

from typing import Any, NamedTuple

from specprof.errors import UsageError


class Model(NamedTuple):
    name: str
    config: Any

    @property
    def text(self) -> Any:
        return self.config.get_text_config(decoder=True)


def check_model(model: Model) -> None:
    """Raise `UsageError` for a model that assisted generation cannot use."""
    from transformers.models.auto import modeling_auto as auto

    name, config = model
    families = (auto.MODEL_FOR_CAUSAL_LM_MAPPING, auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING)
    family = families[bool(config.is_encoder_decoder)]
    if type(config) not in family and not hasattr(config, "auto_map"):
        raise UsageError(f"`{name}` ({config.model_type}) does not generate text", "pass a language model")
    if type(config) in family and family[type(config)]._is_stateful:
        raise UsageError(
            f"`{name}` ({config.model_type}) keeps a recurrent state that cannot go back to before a rejected draft",
            "pass a model with attention layers only",
        )
    if getattr(config, "use_cache", True) is False:
        raise UsageError(f"`{name}` sets `use_cache` to false", "set it to true in the model's `config.json`")
