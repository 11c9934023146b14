"""From the spool to shards: the one way in which finished requests become visible in `requests/`."""

import fcntl
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from specprof.errors import DamagedError, SpecprofError
from specprof.records import Request
from specprof.spool import Attempt, Segment, read_attempts, scan_segment, sync, writing_to
from specprof.store.run import read_info
from specprof.store.schema import RUN_KEY, SCHEMA, rows


def write_shard(run_dir: Path, writer: str, requests: Iterable[Request]) -> Path:
    """Write `requests` as the next shard of `writer`. A full disk or a folder without write access is an
    `EnvironmentError_` that leaves nothing behind."""
    with _sealing(run_dir):
        return _write_shard(run_dir, writer, requests)


def seal(run_dir: Path, writer: str | None = None) -> list[Path]:
    """Turn finished requests of closed segments, and of those whose writer is dead, into one shard per writer.

    A segment goes when every request in it is in a shard; a damaged segment or request stays for `read_run` to report.
    """
    with _sealing(run_dir), ExitStack() as claims:
        segments: dict[str, list[Segment]] = {}
        for path in sorted((run_dir / "spool").glob("*.seg")):
            if _claim(path, claims) and (segment := _scan(path)):
                segments.setdefault(path.stem.rpartition("-")[0], []).append(segment)
        wanted = [name for name in segments if writer in (None, name)]
        shards = [_seal_writer(run_dir, name, segments[name]) for name in wanted]
    return [shard for shard in shards if shard]


def _seal_writer(run_dir: Path, writer: str, segments: list[Segment]) -> Path | None:
    attempts = read_attempts(segments)
    sealed = _sealed_ids(run_dir, writer)
    requests = (a.request for a in attempts if a.request.complete and a.request.request_id not in sealed)
    fresh = {request.request_id: request for request in requests if request.problem() is None}
    shard = _write_shard(run_dir, writer, fresh.values()) if fresh else None
    with writing_to(run_dir):
        for segment in _done(segments, attempts, sealed | fresh.keys()):
            segment.path.unlink()
    return shard


def _done(segments: list[Segment], attempts: list[Attempt], sealed: set[str]) -> list[Segment]:
    """Segments that no reader needs. A damaged one may hide the start of what the later ones hold."""
    if any(segment.damage for segment in segments):
        return []
    open = {path for attempt in attempts if attempt.request.request_id not in sealed for path in attempt.paths}
    return [segment for segment in segments if segment.path not in open]


def _claim(path: Path, claims: ExitStack) -> bool:
    """Whether no living writer has `path`; if so it is locked until `claims` closes."""
    with writing_to(path.parent):
        descriptor = os.open(path, os.O_RDONLY)
    claims.callback(os.close, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _scan(path: Path) -> Segment | None:
    """None for a segment of a newer format."""
    try:
        return scan_segment(path)
    except SpecprofError:
        return None


def _sealed_ids(run_dir: Path, writer: str) -> set[str]:
    return {id for _, path in _shards(run_dir, writer) for id in _ids(path)}


def _ids(path: Path) -> list[str]:
    try:
        ids: list[str] = pq.read_table(path, columns=["request_id"])["request_id"].to_pylist()
    except (pa.ArrowException, OSError) as error:
        hint = "move it out of the folder to go on; its requests are lost"
        raise DamagedError(f"`{path}` cannot be read: {error}", hint) from error
    return ids


def _shards(run_dir: Path, writer: str) -> list[tuple[int, Path]]:
    pattern = re.compile(rf"part-{re.escape(writer)}-(\d+)\.parquet")
    matches = ((pattern.fullmatch(path.name), path) for path in (run_dir / "requests").glob("*.parquet"))
    return sorted((int(match[1]), path) for match, path in matches if match)


def _write_shard(run_dir: Path, writer: str, requests: Iterable[Request]) -> Path:
    run_id = str(read_info(run_dir).get("run_id", run_dir.resolve().name))
    table = rows(request.with_(writer=request.writer or writer) for request in requests)
    table = table.replace_schema_metadata({**SCHEMA.metadata, RUN_KEY: run_id})
    number = max((number for number, _ in _shards(run_dir, writer)), default=-1) + 1
    shard = run_dir / "requests" / f"part-{writer}-{number:05d}.parquet"
    temporary = run_dir / ".tmp" / shard.name
    with writing_to(run_dir):
        try:
            pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)
            sync(temporary)
            os.replace(temporary, shard)
        finally:
            temporary.unlink(missing_ok=True)
        sync(shard.parent)
    return shard


@contextmanager
def _sealing(run_dir: Path) -> Iterator[None]:
    """One sealer per run at a time: two would choose the same shard number. Clears what a killed one left."""
    with writing_to(run_dir):
        folder = os.open(run_dir / ".tmp", os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
    try:
        with writing_to(run_dir):
            for left in (run_dir / ".tmp").glob("*.parquet"):
                left.unlink()
        yield
    finally:
        os.close(folder)
