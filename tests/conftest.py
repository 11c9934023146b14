"""What many tests share: disks that fail, and tiny models (in `support/`, which pytest puts on the path)."""

import importlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("patient", deadline=None, max_examples=50)  # a busy machine is no fault
settings.load_profile("patient")

SMALL_BYTES = 512 << 10


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 512 KiB."""
    yield from _mounted(tmp_path / "small")


@pytest.fixture
def roomy_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 12 MiB: room for a run, until something else fills it."""
    yield from _mounted(tmp_path / "roomy", 12 << 20)


@pytest.fixture
def freezable(tmp_path: Path) -> Iterator[tuple[Path, Callable[[], None]]]:
    """A folder and a call that makes it read-only, for root too."""
    folder = tmp_path / "frozen"
    for _ in _mounted(folder):
        yield folder, lambda: _mount("-o", "remount,ro", str(folder))


def _mounted(folder: Path, size: int = SMALL_BYTES) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    folder.mkdir()
    _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def _mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"cannot mount here: {done.stderr.strip()}")


@pytest.fixture(scope="session")
def tiny() -> Any:
    """The builders of tiny models; skips where torch and transformers are not installed."""
    for package in ("torch", "transformers"):
        pytest.importorskip(package, reason="needs the extra `hf`")
    return importlib.import_module("tiny_models")


@pytest.fixture(scope="session")
def bench(tiny: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return tiny.Bench(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="session")
def bench_on(tiny: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    return lambda device: tiny.Bench(tmp_path_factory.mktemp("models"), device)
