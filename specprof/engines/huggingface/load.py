"""The models of a run, loaded, and stripped of every decoding setting that their checkpoints bring along."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForSeq2SeqLM, GenerationConfig
from transformers.utils import logging

from specprof.engines.huggingface.exits import check_exit
from specprof.engines.huggingface.methods import LAYER, METHODS
from specprof.engines.huggingface.preflight import read_config, read_tokenizer, trusts
from specprof.errors import EnvironmentError_
from specprof.records import EngineConfig

# The ends of a sequence, the cache and bookkeeping: these change no choice of a token.
KEPT = ("eos_token_id", "pad_token_id", "bos_token_id", "use_cache", "transformers_version", "_from_model_config")
START = "decoder_start_token_id"


@dataclass(frozen=True)
class Loaded:
    """`set_aside` are decoding settings of the checkpoints, by model, that this engine does not use.

    `context` is the shortest context of all models, in tokens, so that every arm gets the same room. A draft has a
    tokenizer of its own under `universal`.
    """

    tokenizer: Any
    target: Any
    drafts: Mapping[str, Any]
    draft_tokenizers: Mapping[str, Any]
    eos_ids: tuple[int, ...]
    context: int | None
    set_aside: Mapping[str, Mapping[str, Any]]

    @property
    def encoder_decoder(self) -> bool:
        return bool(self.target.config.is_encoder_decoder)

    def room(self, prompt_tokens: int) -> int:
        """New tokens that fit after such a prompt. An encoder has a context of its own; a decoder's holds its start."""
        if self.context is None:
            return sys.maxsize
        if not self.encoder_decoder:
            return self.context - prompt_tokens
        return self.context - 1 if prompt_tokens <= self.context else 0


def load(config: EngineConfig) -> Loaded:
    assert config.model is not None
    methods = {arm.draft: arm.method for arm in config.arms if METHODS[arm.method].draft and arm.draft}
    tokenizer = read_tokenizer(config.model, trusts(config))
    target = _model(config.model, config)
    drafts = {name: _model(name, config, methods[name]) for name in sorted(methods)}
    apart = {name: read_tokenizer(name, trusts(config)) for name in drafts if methods[name] == "universal"}
    models = [(config.model, target), *drafts.items()]
    limits = [getattr(model.config.get_text_config(), "max_position_embeddings", None) for _, model in models]
    eos_ids = _eos_ids(target, tokenizer)
    set_aside = {name: _neutralise(model) for name, model in models}
    context = min((limit for limit in limits if limit), default=None)
    for layer in {arm.options[LAYER] for arm in config.arms if arm.method == "early_exit"}:
        check_exit(target, layer)
    return Loaded(tokenizer, target, drafts, apart, eos_ids, context, set_aside)


def _model(name: str, config: EngineConfig, method: str | None = None) -> Any:
    device = config.device or ("cuda" if torch.cuda.is_available() else "cpu")
    options: dict[str, Any] = {"dtype": config.dtype or "auto", "trust_remote_code": trusts(config)}
    if attention := config.options.get("attn_implementation"):
        options["attn_implementation"] = attention
    try:
        return _family(name, config, method).from_pretrained(name, **options).to(device).eval()
    except Exception as error:  # broken files, too little memory, a device that refuses: each has a type of its own
        reason = str(error).strip().partition("\n")[0]
        raise EnvironmentError_(
            f"cannot load `{name}` on {device}: {reason}", "check its files and the memory"
        ) from error


def _family(name: str, config: EngineConfig, method: str | None) -> Any:
    if method == "dflash":  # it borrows embedding and head of the target
        return AutoModel
    return AutoModelForSeq2SeqLM if read_config(name, trusts(config)).is_encoder_decoder else AutoModelForCausalLM


def _eos_ids(target: Any, tokenizer: Any) -> tuple[int, ...]:
    ids = target.generation_config.eos_token_id
    if ids is None:
        ids = tokenizer.eos_token_id
    return tuple(ids) if isinstance(ids, list) else () if ids is None else (ids,)


def _neutralise(model: Any) -> dict[str, Any]:
    """Give `model` a blank generation config; return what its checkpoint would have changed."""
    if not model.can_generate():
        return {}
    settings = model.generation_config.to_diff_dict()
    start = settings.get(START, getattr(model.config, START, None))
    model.generation_config = GenerationConfig(**{} if start is None else {START: start})
    return {name: value for name, value in settings.items() if value and name not in (*KEPT, START)}


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
