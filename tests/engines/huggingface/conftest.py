"""Changed copies of the tiny target."""

import json
from collections.abc import Callable
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
