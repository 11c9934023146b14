"""Whether target and drafter of an arm fit each other, method by method; no weights are read."""

from collections.abc import Callable, Mapping
from typing import Any

from specprof.engines.huggingface.methods import LAYER
from specprof.engines.huggingface.model import Model, check_model
from specprof.engines.huggingface.vocabulary import Vocabulary
from specprof.errors import UsageError
from specprof.records import Arm

ReadVocabulary = Callable[[Model], Vocabulary]


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


CHECKS: Mapping[str, Callable[[Arm, Model, Any, ReadVocabulary], None]] = {
    "draft_model": _draft_model,
    "universal": _universal,
    "early_exit": _early_exit,
    "mtp": _mtp,
    "dflash": _dflash,
    "single_position": _single_position,
}
