"""Changed copies of the tiny target."""

import importlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def edited(bench: Any, tmp_path: Path) -> Callable[..., str]:
    """A copy of the target's folder with some keys of a JSON file changed."""

    def edit(file: str = "config.json", **changes: Any) -> str:
        folder = tmp_path / "edited"
        folder.mkdir(exist_ok=True)
        for path in Path(bench.folders["target"]).iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        values = json.loads((folder / file).read_text())
        (folder / file).write_text(json.dumps(values | changes))
        return str(folder)

    return edit


@pytest.fixture(scope="session")
def pair(tiny: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """A bench over the models of `support/tiny_drafters.py` that has this name."""
    builders = importlib.import_module("tiny_drafters")

    @cache
    def build(name: str) -> Any:
        return tiny.Bench(tmp_path_factory.mktemp(name), build=getattr(builders, name))

    return build


@pytest.fixture(scope="session")
def reference(tiny: Any) -> Any:
    """The module of the reference decoder."""
    return importlib.import_module("reference_decoder")
