"""The file `specprof.costs/1`: measured costs with all that they hold for."""

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from specprof.capture.machine import describe_machine
from specprof.errors import UsageError
from specprof.records import COST_KINDS, Arm, CostSample
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


def refuse_existing(path: Path) -> None:
    if path.exists():
        raise UsageError(f"`{path}` exists", "pass another `--out`, or delete it")


def save_costs(path: Path, content: Mapping[str, Any]) -> None:
    """Write a new file; it appears whole or not at all. Raises `UsageError` where there is one."""
    refuse_existing(path)
    temporary = path.with_name(f".{path.name}.tmp")
    with writing_to(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
        sync(temporary)
        os.replace(temporary, path)
        sync(path.parent)


def read_costs(path: Path) -> CostFile:
    """Raises `UsageError` for a file that is not whole."""
    try:
        data = path.read_bytes()
        content = json.loads(data)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read costs from `{path}`: {error}", _HINT) from error
    name, _, major = str(content.get("schema") if isinstance(content, dict) else None).partition("/")
    if name != SCHEMA_NAME or not major.isdecimal():
        raise UsageError(f"`{path}` has no schema `{SCHEMA_NAME}/…`", _HINT)
    if int(major) > SCHEMA_MAJOR:
        raise UsageError(f"`{path}` has schema {major}; this specprof reads up to {SCHEMA_MAJOR}", "upgrade specprof")
    if problem := _problem(content):
        raise UsageError(f"`{path}` {problem}", _HINT)
    return CostFile(path, hashlib.sha256(data).hexdigest(), content)


_HINT = "pass a file that `specprof calibrate --out` wrote"
_NAMES = {field.name for field in fields(CostSample)}


def _problem(content: Mapping[str, Any]) -> str | None:
    arms, occasions = content.get("arms"), content.get("occasions")
    if not isinstance(arms, dict) or not all(isinstance(arm, dict) for arm in arms.values()):
        return "has no map of arms"
    if not isinstance(occasions, list) or not all(isinstance(item, dict) for item in occasions):
        return "has no list of occasions"
    for index, item in enumerate(occasions):
        for number, sample in enumerate(item.get("samples") or [None]):
            if not _sound(sample):
                return f"has no sound sample {number} in occasion {index}: {json.dumps(sample)[:80]}"
    return None


def _sound(sample: Any) -> bool:
    if not isinstance(sample, dict) or not sample.keys() <= _NAMES or sample.get("kind") not in COST_KINDS:
        return False
    us, counts = sample.get("us"), [sample.get("context"), sample.get("repeat"), sample.get("width", 0)]
    return isinstance(us, int | float) and math.isfinite(us) and all(isinstance(count, int) for count in counts)
