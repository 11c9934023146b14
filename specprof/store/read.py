"""A run as one table: finished shards, and over them what the spool still holds. Reading never writes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from specprof.errors import DamagedError, SpecprofError
from specprof.records import Request
from specprof.spool import Attempt, Segment, read_attempts, scan_segment
from specprof.spool.read import damaged
from specprof.store.check import CHECKED
from specprof.store.run import effective_state, read_info
from specprof.store.schema import SCHEMA, rows
from specprof.store.shard import Problems, read_shards

_JOB = ["prompt_id", "sample", "arm", "phase"]
_SKIP = "pass `--skip-bad` to go on without it"


@dataclass(frozen=True, slots=True)
class Run:
    """`problems`: what `skip_bad` left out. `superseded`: unfinished attempts left out for a complete one."""

    path: Path
    info: dict[str, Any]
    state: str
    table: pa.Table
    problems: tuple[str, ...] = ()
    superseded: int = 0


def read_run(path: Path, skip_bad: bool = False, columns: Sequence[str] | None = None) -> Run:
    """`DamagedError` names the first file that cannot be trusted, unless `skip_bad`. `columns`: only these."""
    info = read_info(path)
    names = list(columns or SCHEMA.names)
    read = names + [name for name in CHECKED if name not in names]
    problems = Problems(skip_bad)
    spooled = _spooled(path / "spool", problems)  # before the shards: a sealer may be at work
    shards = read_shards(path / "requests", read, problems)
    overlay = rows(_unsealed(spooled, shards)).select(read).replace_schema_metadata()
    table = pa.concat_tables([shards, overlay])
    kept = _without_superseded(table)
    state = effective_state(info)
    return Run(path, info, state, kept.select(names), tuple(problems.found), table.num_rows - kept.num_rows)


def _spooled(folder: Path, problems: Problems) -> dict[str, Request]:
    """Requests of the spool by id; of two with the same id the complete one, else the later."""
    attempts: dict[str, Attempt] = {}
    for attempt in read_attempts(_segments(folder, problems)):
        request = attempt.request
        other = attempts.get(request.request_id)
        if wrong := request.problem():
            problems.add(DamagedError(f"{_place(attempt)}: request `{request.request_id}`, {wrong}", _SKIP))
        elif other is None or not other.request.complete:
            attempts[request.request_id] = attempt
        elif request.complete and request.writer != other.request.writer:
            twice = f"request `{request.request_id}` is in {_place(other)} and {_place(attempt)}"
            problems.add(DamagedError(twice, _SKIP))
    return {id: attempt.request for id, attempt in attempts.items()}


def _segments(folder: Path, problems: Problems) -> Iterator[Segment]:
    for path in sorted(folder.glob("*.seg")):
        try:
            segment = scan_segment(path)
        except FileNotFoundError:  # sealed meanwhile: its requests are in a shard
            continue
        except SpecprofError as error:
            problems.add(error)
            continue
        if segment.damage:
            problems.add(damaged(segment))
        yield segment


def _place(attempt: Attempt) -> str:
    return f"`{min(attempt.paths)}`"


def _unsealed(spooled: dict[str, Request], shards: pa.Table) -> list[Request]:
    """A request in both places was sealed, but its segment not yet removed."""
    sealed = pc.is_in(pa.array(list(spooled), pa.string()), value_set=shards["request_id"].combine_chunks())
    return [request for request, known in zip(spooled.values(), sealed.to_pylist(), strict=True) if not known]


def _without_superseded(table: pa.Table) -> pa.Table:
    complete = table["complete"]
    if pc.all(complete).as_py() is not False:
        return table
    jobs = table.select(_JOB).append_column("row", pa.array(np.arange(table.num_rows)))
    done = jobs.filter(complete).group_by(_JOB).aggregate([])
    last = jobs.filter(pc.invert(complete)).group_by(_JOB).aggregate([("row", "max")])
    kept = complete.to_numpy().copy()
    kept[last.join(done, keys=_JOB, join_type="left anti")["row_max"].to_numpy()] = True
    return table.filter(pa.array(kept))
