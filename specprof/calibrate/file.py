"""The file `specprof.costs/1`: measured costs with all that they hold for."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from specprof.calibrate.sound import problem
from specprof.capture.machine import describe_machine
from specprof.errors import UsageError
from specprof.records import Arm
from specprof.spool import sync, writing_to

SCHEMA_NAME, SCHEMA_MAJOR = "specprof.costs", 1
HOLDS_FOR = ("engine", "engine_version", "target", "weights", "dtype", "device", "gpu", "threads")


@dataclass(frozen=True)
class CostFile:
    """`content` is the document as read; `sha256` is that of the file."""

    path: Path
    sha256: str
    content: Mapping[str, Any]


def document(
    described: Mapping[str, Any], arms: Sequence[Arm], occasions: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """JSON-ready; `described` is what the engine says of itself."""
    return {
        "schema": f"{SCHEMA_NAME}/{SCHEMA_MAJOR}",
        **{key: described.get(key) for key in HOLDS_FOR},
        "machine": describe_machine(),
        "arms": {arm.id: arm.to_dict() for arm in arms},
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "occasions": list(occasions),
    }


def refuse_unwritable(path: Path) -> None:
    """Raises `UsageError` where there is a file already, `EnvironmentError_` where none can be written."""
    if path.exists():
        raise UsageError(f"`{path}` exists", "pass another `--out`, or delete it")
    temporary = _temporary(path)
    with writing_to(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.touch()
        temporary.unlink()


def save_costs(path: Path, content: Mapping[str, Any]) -> None:
    """Write a new file; it appears whole or not at all. Raises `UsageError` where there is one."""
    refuse_unwritable(path)
    temporary = _temporary(path)
    with writing_to(path.parent):
        temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
        sync(temporary)
        os.replace(temporary, path)
        sync(path.parent)


def read_costs(path: Path) -> CostFile:
    """Raises `UsageError` for a file that is not whole."""
    try:
        data = path.read_bytes()
        content = json.loads(data)
    except (OSError, ValueError, RecursionError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        raise UsageError(f"cannot read costs from `{path}`: {reason}", _HINT) from error
    name, _, major = str(content.get("schema") if isinstance(content, dict) else None).partition("/")
    if name != SCHEMA_NAME or not (major.isdecimal() and len(major) < 10):
        raise UsageError(f"`{path}` has no schema `{SCHEMA_NAME}/…`", _HINT)
    if int(major) > SCHEMA_MAJOR:
        raise UsageError(f"`{path}` has schema {major}; this specprof reads up to {SCHEMA_MAJOR}", "upgrade specprof")
    if fault := problem(content):
        raise UsageError(f"`{path}` {fault}", _HINT)
    return CostFile(path, hashlib.sha256(data).hexdigest(), content)


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.tmp")


_HINT = "pass a file that `specprof calibrate --out` wrote"
