"""What `run.json` records of the models and the machine."""

from collections.abc import Iterator
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import torch
import transformers

from specprof.engines.huggingface.load import Loaded
from specprof.engines.huggingface.preflight import weight_files
from specprof.engines.huggingface.text import adds_special_tokens
from specprof.engines.huggingface.traps import known
from specprof.records import EngineConfig


def describe(loaded: Loaded, config: EngineConfig) -> dict[str, Any]:
    target, template = loaded.target, loaded.tokenizer.chat_template
    models: dict[str, Any] = {str(config.model): target, **loaded.drafts}
    return {
        "engine": "huggingface",
        "engine_version": transformers.__version__,
        "torch": torch.__version__,
        "target": config.model,
        "draft": ", ".join(loaded.drafts) or None,
        "weights": {name: _weights(name, model) for name, model in models.items()},
        "dtype": str(target.dtype).removeprefix("torch."),
        "device": str(target.device),
        "gpu": torch.cuda.get_device_name(target.device) if target.device.type == "cuda" else None,
        "threads": torch.get_num_threads(),
        "attn_implementation": target.config._attn_implementation,
        "context_tokens": loaded.context,
        "encoder_decoder": loaded.encoder_decoder,
        "eos_ids": list(loaded.eos_ids),
        "chat_template_sha256": None if template is None else sha256(str(template).encode()).hexdigest(),
        "raw_special_tokens": adds_special_tokens(loaded.tokenizer),
        "notes": list(_notes(config)),
        "generation_config": {name: dict(settings) for name, settings in loaded.set_aside.items()},
    }


def _weights(name: str, model: Any) -> dict[str, Any]:
    """Hashes of a local folder's weight files, else the revision of the hub."""
    if not Path(name).is_dir():
        return {"revision": model.config._commit_hash}
    return {"sha256": {path.name: _digest(path) for path in weight_files(Path(name))}}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


NOTES = {
    "squared-temperature": "a drafter that samples inside `generate` applies temperature and top_p twice: at "
    "temperature T it drafts at T²",
    "mismatched-tokenizer": "universal decoding drafts k tokens of the draft's tokenizer; they are re-tokenised, so "
    "that `proposed` varies, and an end of sequence is never proposed",
    "lossy": "an arm's verification may keep tokens that the target would not choose",
}


def _notes(config: EngineConfig) -> Iterator[str]:
    """What of transformers' own doing shapes the acceptance of these arms."""
    flags = {flag for arm in config.arms for flag in known(arm)}
    yield from (note for flag, note in NOTES.items() if flag in flags)
    if any(arm.method == "prompt_lookup" and (arm.top_p or 1) < 1 for arm in config.arms):
        yield "with top_p below 1, prompt lookup never proposes some 1 - top_p of the vocabulary, whatever the text"
    if any(arm.method == "mtp" for arm in config.arms):
        yield "the layers of multi-token prediction are read from disk for every request, before its first token"
