"""The models of a run, loaded, and stripped of every decoding setting that their checkpoints bring along."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoModelForCausalLM, GenerationConfig
from transformers.utils import logging

from specprof.engines.huggingface.preflight import read_tokenizer, trusts
from specprof.errors import EnvironmentError_
from specprof.records import EngineConfig

# The ends of a sequence, the cache and bookkeeping: these change no choice of a token.
KEPT = ("eos_token_id", "pad_token_id", "bos_token_id", "use_cache", "transformers_version", "_from_model_config")


@dataclass(frozen=True)
class Loaded:
    """`set_aside` are decoding settings of the checkpoints, by model, that this engine does not use.

    `context` is the shortest context of all models, in tokens, so that every arm gets the same room.
    """

    tokenizer: Any
    target: Any
    drafts: Mapping[str, Any]
    eos_ids: tuple[int, ...]
    context: int | None
    set_aside: Mapping[str, Mapping[str, Any]]


def load(config: EngineConfig) -> Loaded:
    assert config.model is not None
    names = sorted({arm.draft for arm in config.arms if arm.method == "draft_model" and arm.draft})
    tokenizer = read_tokenizer(config.model, trusts(config))
    target, drafts = _model(config.model, config), {name: _model(name, config) for name in names}
    models = [(config.model, target), *drafts.items()]
    limits = [getattr(model.config.get_text_config(), "max_position_embeddings", None) for _, model in models]
    eos_ids = _eos_ids(target, tokenizer)
    set_aside = {name: _neutralise(model) for name, model in models}
    context = min((limit for limit in limits if limit), default=None)
    return Loaded(tokenizer, target, drafts, eos_ids, context, set_aside)


def _model(name: str, config: EngineConfig) -> Any:
    device = config.device or ("cuda" if torch.cuda.is_available() else "cpu")
    options: dict[str, Any] = {"dtype": config.dtype or "auto", "trust_remote_code": trusts(config)}
    if attention := config.options.get("attn_implementation"):
        options["attn_implementation"] = attention
    try:
        return AutoModelForCausalLM.from_pretrained(name, **options).to(device).eval()
    except Exception as error:  # broken files, too little memory, a device that refuses: each has a type of its own
        reason = str(error).strip().partition("\n")[0]
        raise EnvironmentError_(
            f"cannot load `{name}` on {device}: {reason}", "check its files and the memory"
        ) from error


def _eos_ids(target: Any, tokenizer: Any) -> tuple[int, ...]:
    ids = target.generation_config.eos_token_id
    if ids is None:
        ids = tokenizer.eos_token_id
    return tuple(ids) if isinstance(ids, list) else () if ids is None else (ids,)


def _neutralise(model: Any) -> dict[str, Any]:
    """Give `model` a blank generation config; return what its checkpoint would have changed."""
    settings = model.generation_config.to_diff_dict()
    model.generation_config = GenerationConfig()
    return {name: value for name, value in settings.items() if value and name not in KEPT}


@contextmanager
def quiet() -> Iterator[None]:
    """No bars and no advice from transformers: it speaks of calls that its user did not make."""
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
