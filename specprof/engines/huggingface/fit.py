"""Whether the models of a run can be assisted, and whether target and drafter of each arm fit; no weights are read."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

from specprof.engines.huggingface.methods import LAYER, METHODS
from specprof.engines.huggingface.preflight import read_config, read_tokenizer, trusts
from specprof.engines.huggingface.vocabulary import Vocabulary
from specprof.errors import UsageError
from specprof.records import Arm, EngineConfig


class Model(NamedTuple):
    name: str
    config: Any

    @property
    def text(self) -> Any:
        return self.config.get_text_config(decoder=True)


ReadVocabulary = Callable[[Model], Vocabulary]


def check_models(config: EngineConfig) -> None:
    """Read the configurations and tokenizers of the target and of every draft. Raises `UsageError`."""
    remote = trusts(config)
    assert config.model is not None
    target = Model(config.model, read_config(config.model, remote))
    check_model(target)

    @cache
    def vocabulary(name: str, size: int) -> Vocabulary:
        return Vocabulary(name, size, read_tokenizer(name, remote))

    for arm in config.arms:
        draft = None
        if METHODS[arm.method].draft:
            assert arm.draft is not None
            draft = Model(arm.draft, read_config(arm.draft, remote))
        if check := _CHECKS.get(arm.method):
            check(arm, target, draft, lambda model: vocabulary(model.name, model.text.vocab_size))


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


def _draft_model(arm: Arm, target: Model, draft: Model, vocabulary: ReadVocabulary) -> None:
    check_model(draft)
    if target.config.is_encoder_decoder != draft.config.is_encoder_decoder:
        raise UsageError(
            f"of `{target.name}` and its draft `{draft.name}` only one is an encoder-decoder model",
            "pass a draft of the target's kind",
        )
    vocabulary(target).check_same(vocabulary(draft))


def _universal(arm: Arm, target: Model, draft: Model, vocabulary: ReadVocabulary) -> None:
    check_model(draft)
    _decoder_only(arm, target, draft)
    vocabulary(target).check_other(vocabulary(draft), sampled=arm.temperature > 0)


def _early_exit(arm: Arm, target: Model, draft: None, vocabulary: ReadVocabulary) -> None:
    _decoder_only(arm, target)
    if not arm.options[LAYER] < (layers := target.text.num_hidden_layers):
        raise UsageError(
            f"arm `{arm.id}` leaves after layer {arm.options[LAYER]}, and `{target.name}` has {layers}",
            f"`{LAYER}` is 1 to {layers - 1} here",
        )


def _mtp(arm: Arm, target: Model, draft: None, vocabulary: ReadVocabulary) -> None:
    _decoder_only(arm, target)
    layers = getattr(target.text, "num_mtp_layers", None)
    if not layers:
        raise UsageError(
            f"`{target.name}` ({target.config.model_type}) has no layers of multi-token prediction",
            "pass a model whose configuration has `num_mtp_layers`",
        )
    _always(arm, target, layers)


def _dflash(arm: Arm, target: Model, draft: Model, vocabulary: ReadVocabulary) -> None:
    _decoder_only(arm, target)
    config = draft.config
    if not all(hasattr(config, name) for name in ("block_size", "mask_token_id", "target_layer_ids")):
        raise UsageError(f"`{draft.name}` ({config.model_type}) is no DFlash drafter", "pass one, or `draft_model`")
    _fits(target, draft, config.hidden_size)
    if max(config.target_layer_ids) >= target.text.num_hidden_layers:
        raise UsageError(
            f"`{draft.name}` looks at layer {max(config.target_layer_ids)} of `{target.name}`, which has "
            f"{target.text.num_hidden_layers}, counted from 0",
            "pass a drafter made for this target",
        )
    _always(arm, draft, config.block_size - 1)


def _single_position(arm: Arm, target: Model, draft: Model, vocabulary: ReadVocabulary) -> None:
    kinds = [(target, ("gemma4", "gemma3n")), (draft, ("gemma4_assistant", "gemma4_unified_assistant"))]
    for model, known in kinds:
        if not model.config.model_type.startswith(known):
            raise UsageError(
                f"`{model.name}` ({model.config.model_type}) knows no single-position drafting",
                "transformers 5.24 has it for a Gemma 4 or Gemma 3n target with a Gemma 4 assistant",
            )
    _fits(target, draft, draft.config.backbone_hidden_size)
    vocabulary(target).check_same(vocabulary(draft))


def _decoder_only(arm: Arm, *models: Model) -> None:
    for model in models:
        if model.config.is_encoder_decoder:
            raise UsageError(
                f"arm `{arm.id}`: `{arm.method}` cannot draft with the encoder-decoder model `{model.name}`",
                "use `draft_model` or `prompt_lookup`",
            )


def _fits(target: Model, draft: Model, width: int) -> None:
    if width != target.text.hidden_size:
        raise UsageError(
            f"`{draft.name}` reads states of width {width}, and `{target.name}` has {target.text.hidden_size}",
            "pass a drafter made for this target",
        )


def _always(arm: Arm, model: Model, k: int) -> None:
    if arm.k != k:
        raise UsageError(f"arm `{arm.id}` asks for k = {arm.k}, and `{model.name}` always drafts {k}", f"pass `k={k}`")


_CHECKS: Mapping[str, Callable[[Arm, Model, Any, ReadVocabulary], None]] = {
    "draft_model": _draft_model,
    "universal": _universal,
    "early_exit": _early_exit,
    "mtp": _mtp,
    "dflash": _dflash,
    "single_position": _single_position,
}
