"""Requests from elsewhere become a run directory."""

from pathlib import Path

from specprof import __version__
from specprof.importers.native import Imported, read_native
from specprof.records import BASELINE, Request
from specprof.store.run import create
from specprof.store.seal import write_shard

WRITER = "import"
SHARD_REQUESTS = 16_384


def import_native(file: Path, out: Path, *, skip_bad: bool = False) -> Imported:
    """Read the native JSONL format into the new run directory `out`; nothing is created where a record is refused."""
    imported = read_native(file, skip_bad=skip_bad)
    info = {
        "run_id": out.resolve().name,
        "engine": "import",
        "engine_version": __version__,
        "source": str(file),
        "specprof_version": __version__,
        "arms": {arm: _arm(imported.requests, arm) for arm in dict.fromkeys(r.arm for r in imported.requests)},
        "skipped": len(imported.skipped),
        "unbalanced": imported.unbalanced,
    }
    with create(out, info) as run:
        for start in range(0, len(imported.requests), SHARD_REQUESTS):
            write_shard(run.path, WRITER, imported.requests[start : start + SHARD_REQUESTS])
    return imported


def _arm(requests: tuple[Request, ...], arm: str) -> dict[str, object]:
    """What the rounds tell about an arm: its k is the most drafted in a round. Nothing else is known."""
    drafted = (step.drafted for request in requests if request.arm == arm for step in request.rounds)
    return {"method": "none" if arm == BASELINE else None, "k": max(drafted, default=0)}
