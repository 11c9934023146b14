"""Versions, device, threads and load."""

import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from specprof.engines.huggingface.diagnose.side import Side
from specprof.records import EngineConfig, Finding

_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def findings(config: EngineConfig) -> Iterator[Finding]:
    import torch
    import transformers

    versions = f"transformers {transformers.__version__}, torch {torch.__version__}, Python {platform.python_version()}"
    yield Finding("versions", "ok", versions, "in the supported range")
    device = config.device or ("cuda" if torch.cuda.is_available() else "cpu")
    name = torch.cuda.get_device_name(device) if device.startswith("cuda") else platform.machine()
    yield Finding("device", "ok", f"{device} ({name})", "the models run there")
    threads, cores = config.threads or torch.get_num_threads(), usable_cores()
    yield _threads(threads, cores)
    if device == "cpu" and hasattr(os, "getloadavg"):
        yield _load(threads, cores)


def _threads(threads: int, cores: int) -> Finding:
    value, figures = f"{threads} on {cores} usable cores", {"threads": threads, "cores": cores}
    if threads > cores:
        meaning = "threads wait for each other's cores: steps get several times slower and their times spread"
        return Finding("threads", "warning", value, meaning, f"pass `--threads {cores}` or fewer", figures)
    return Finding("threads", "ok", value, "each thread has a core", figures=figures)


def _load(threads: int, cores: int) -> Finding:
    load = os.getloadavg()[0]
    value, figures = f"load {load:.1f} over the last minute on {cores} usable cores", {"load_1m": load, "cores": cores}
    if load + threads > cores + 0.5:
        meaning = "other work competes for the cores: times spread, and speed-ups with them"
        hint = "stop it, or pass fewer `--threads`; the counts of accepted tokens do not suffer"
        return Finding("load", "warning", value, meaning, hint, figures)
    return Finding("load", "ok", value, "the cores are free", figures=figures)


def usable_cores() -> int:
    """Cores that this process may run on, and no more than a container's quota pays for."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = (_QUOTA.read_text() if _QUOTA.is_file() else "max").strip().partition(" ")
    return cores if quota == "max" else max(1, min(cores, int(quota) // int(period)))


def dtype(target: Side, config: EngineConfig) -> Finding:
    chosen = config.dtype if config.dtype not in (None, "auto") else _stored(target.config)
    if chosen == "float32":
        return Finding("dtype", "ok", chosen, "speculative and plain decoding agree token by token where greedy")
    meaning = (
        "a batch of positions and a single one round differently: greedy answers may part from plain decoding's "
        "at near ties, which is numerics and not a fault"
    )
    return Finding("dtype", "ok", chosen, meaning, "`specprof verify` shows where; float32 is exact")


def _stored(config: Any) -> str:
    return str(getattr(config, "dtype", None) or "float32").removeprefix("torch.")
