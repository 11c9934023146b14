"""Faults of the machine and the models that show before any weights load."""

from importlib import import_module
from pathlib import Path
from typing import Any

from specprof.errors import EnvironmentError_, UsageError
from specprof.records import EngineConfig

SINCE = (5, 24)  # the boundary was read and run there; a later 5.x is guarded by the self-check of each request


def check_extra() -> None:
    try:
        transformers, *_ = [import_module(name) for name in ("transformers", "torch", "jinja2")]
    except ImportError as error:
        raise EnvironmentError_(
            f"the Hugging Face engine cannot start: {error}",
            "install the extra `hf`: `pip install '.[hf]'` in a clone of specprof",
        ) from error
    version = tuple(int(part) for part in transformers.__version__.split(".")[:2])
    if not SINCE <= version < (6,):
        raise EnvironmentError_(
            f"transformers {transformers.__version__} is not supported: 5.24 or a later 5.x is",
            "pip install 'transformers>=5.24,<6'",
        )
    if not hasattr(transformers.GenerationMixin, "_get_candidate_generator"):
        raise seam_error("has no `_get_candidate_generator`")


def seam_error(what: str) -> EnvironmentError_:
    """transformers moved under the hook: numbers would be wrong, so there are none."""
    version = import_module("transformers").__version__
    return EnvironmentError_(f"transformers {version} {what}", "pip install 'transformers==5.24.*'")


def check_device(device: str | None) -> None:
    import torch

    if device is not None and device.startswith("cuda"):
        wanted, found = torch.device(device).index or 0, torch.cuda.device_count()
        if wanted >= found:
            raise EnvironmentError_(f"device `{device}` is not there: {found} CUDA devices", "pass `--device cpu`")


def check_models(config: EngineConfig) -> None:
    """Read the configurations and tokenizers of the target and of every draft; no weights."""
    remote = trusts(config)
    assert config.model is not None
    target = read_config(config.model, remote)
    _check_model(config.model, target)
    for name in sorted({arm.draft for arm in config.arms if arm.method == "draft_model" and arm.draft}):
        draft = read_config(name, remote)
        _check_model(name, draft)
        _check_vocabulary(config.model, target, name, draft, remote)


def trusts(config: EngineConfig) -> bool:
    return config.options.get("trust_remote_code") == "true"


def read_config(name: str, remote: bool) -> Any:
    from transformers import AutoConfig

    _check_folder(name)
    try:
        return AutoConfig.from_pretrained(name, trust_remote_code=remote)
    except (OSError, ValueError) as error:
        raise _unreadable("model", name, error) from error


def read_tokenizer(name: str, remote: bool) -> Any:
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(name, trust_remote_code=remote)
    except (OSError, ValueError) as error:
        raise _unreadable("tokenizer of", name, error) from error


def _unreadable(what: str, name: str, error: Exception) -> EnvironmentError_:
    reason = str(error).strip().partition("\n")[0]
    return EnvironmentError_(
        f"cannot read {what} `{name}`: {reason}",
        "pass a local folder, or the id of a model that is cached or reachable",
    )


def _check_folder(name: str) -> None:
    folder = Path(name)
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise EnvironmentError_(f"`{name}` has no `config.json`", "pass the folder that `save_pretrained` wrote")
        if not weight_files(folder):
            raise EnvironmentError_(f"`{name}` has no weights", "it needs `*.safetensors` or `*.bin` files")
    elif folder.exists() or name.startswith((".", "/", "~")):
        raise EnvironmentError_(f"`{name}` is not a folder", "pass the folder that `save_pretrained` wrote")


def weight_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*.bin"))


def _check_model(name: str, config: Any) -> None:
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

    if config.is_encoder_decoder:
        raise UsageError(f"`{name}` is an encoder-decoder model: not offered yet", "pass a decoder-only model")
    known = type(config) in MODEL_FOR_CAUSAL_LM_MAPPING
    if not known and not hasattr(config, "auto_map"):
        raise UsageError(f"`{name}` ({config.model_type}) does not generate text", "pass a causal language model")
    if known and MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]._is_stateful:
        raise UsageError(
            f"`{name}` ({config.model_type}) keeps a recurrent state that cannot go back to before a rejected draft",
            "pass a model with attention layers only",
        )
    if getattr(config, "use_cache", True) is False:
        raise UsageError(f"`{name}` sets `use_cache` to false", "set it to true in the model's `config.json`")


def _check_vocabulary(target: str, target_config: Any, draft: str, draft_config: Any, remote: bool) -> None:
    ours, theirs = (read_tokenizer(name, remote).get_vocab() for name in (target, draft))
    same = sum(theirs.get(token) == id for token, id in ours.items())
    sizes = [config.get_text_config().vocab_size for config in (target_config, draft_config)]
    if ours != theirs or sizes[0] != sizes[1]:
        share = same / max(len(ours), len(theirs))
        raise UsageError(
            f"the tokenizers of `{target}` ({sizes[0]} ids) and `{draft}` ({sizes[1]} ids) differ: "
            f"{share:.1%} of the tokens have the same id",
            "pass a draft with the target's own tokenizer and vocabulary size: universal decoding is not offered yet",
        )
