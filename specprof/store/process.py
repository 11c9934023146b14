"""Which process is it, and does it still live."""

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def this_process() -> dict[str, Any]:
    """What `alive` needs. `started` is in clock ticks since boot; a pid can be used again, the pair cannot."""
    pid = os.getpid()
    return {"pid": pid, "host": socket.gethostname(), "boot_id": _boot_id(), "started": _started(pid)}


def alive(process: Mapping[str, Any]) -> bool:
    """Of a process on another host nothing is known: it counts as alive."""
    if process["host"] != socket.gethostname():
        return True
    if process["boot_id"] != _boot_id():
        return False
    if process["started"] is None:
        return _has_pid(process["pid"])
    return bool(_started(process["pid"]) == process["started"])


def _boot_id() -> str | None:
    return _BOOT_ID.read_text().strip() if _BOOT_ID.exists() else None


def _started(pid: int) -> int | None:
    """Field 22 of /proc/<pid>/stat; None for a process that is gone or a zombie, and where there is no /proc."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    state, *numbers = stat.rpartition(")")[2].split()  # the name before it may hold spaces and parentheses
    return None if state in "ZX" else int(numbers[18])


def _has_pid(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
