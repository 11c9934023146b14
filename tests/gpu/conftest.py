"""The tiny models and the reference are those of the Hugging Face engine's own tests, read from their file."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_path = Path(__file__).parents[1] / "engines" / "huggingface" / "conftest.py"
_spec = spec_from_file_location("tiny_models", _path)
_tiny_models = module_from_spec(_spec)
sys.modules["tiny_models"] = _tiny_models  # dataclasses look their module up
_spec.loader.exec_module(_tiny_models)

bench_on = _tiny_models.bench_on
