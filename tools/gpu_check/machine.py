"""What the checks ran on."""

import subprocess
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

import torch

from specprof.capture.machine import describe_machine
from specprof.engines.huggingface.preflight import check_extra
from specprof.errors import SpecprofError

PACKAGES = ("torch", "transformers", "pyarrow", "pandas", "scipy", "typer", "rich")


def describe(device: torch.device) -> dict[str, str]:
    machine = describe_machine()
    found = {"processor": f"{machine['cpu']}, {machine['cores']} cores", "Python": machine["python"]}
    found |= {name: _version(name) for name in PACKAGES}
    if device.type == "cuda":
        memory = torch.cuda.get_device_properties(device).total_memory
        found["GPU"] = f"{torch.cuda.get_device_name(device)}, {memory / 2**30:.0f} GiB"
        found["driver, CUDA of torch"] = f"{_driver()}, {torch.version.cuda}"
    return found


def refusal() -> str | None:
    """Why the engine does not start with the packages found here."""
    try:
        check_extra()
    except SpecprofError as error:
        return str(error)
    return None


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return _imported(name)


def _imported(name: str) -> str:
    try:
        return str(import_module(name).__version__)
    except (ImportError, AttributeError):
        return "not found"


def _driver() -> str:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.split()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return "unknown"
