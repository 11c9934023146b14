"""What the run ran on: written down, because a speed without its machine is a rumour."""

import os
import platform
from pathlib import Path
from typing import Any

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "CUDA_VISIBLE_DEVICES")


def describe_machine() -> dict[str, Any]:
    """CPU model, usable cores, memory in bytes and the environment variables that set thread counts."""
    return {
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "environment": {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
    }


def load_1m() -> float | None:
    """The machine's one-minute load average, None where the system has none."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
