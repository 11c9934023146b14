"""Faults of the machine and of the models' files that show before any weights load."""

from importlib import import_module
from pathlib import Path
from typing import Any

from specprof.errors import EnvironmentError_
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
