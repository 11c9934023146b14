"""`run.json`: what a run is, in which state, and which process is at it."""

import fcntl
import json
import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from specprof.errors import DamagedError, EnvironmentError_, SpecprofError, UsageError
from specprof.spool import sync, writing_to
from specprof.store.process import alive, this_process

SCHEMA_NAME, SCHEMA_MAJOR = "specprof.run", 1
ENDINGS = ("complete", "interrupted", "failed")
STATES = ("running", *ENDINGS)


@dataclass(frozen=True, slots=True)
class RunDir:
    """A run that this process is writing; its lock keeps every other process out.

    As a context manager it ends the run, if `finish` has not: complete, interrupted (Ctrl-C) or failed.
    """

    path: Path
    lock: int

    def update(self, **changes: Any) -> None:
        """Replace some top-level keys of `run.json`, atomically."""
        _write(self.path, read_info(self.path) | changes)

    def finish(self, state: str) -> None:
        """From running to one of `ENDINGS`."""
        if state not in ENDINGS:
            raise ValueError(f"a run ends {', '.join(ENDINGS)}, not {state}")
        self.update(state=state, running=None, ended_at=_now())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ending = "complete" if kind is None else "interrupted" if issubclass(kind, KeyboardInterrupt) else "failed"
        try:
            with suppress(SpecprofError) if kind else nullcontext():  # the first error tells more
                if read_info(self.path)["state"] == "running":
                    self.finish(ending)
        finally:
            os.close(self.lock)


def create(path: Path, info: Mapping[str, Any]) -> RunDir:
    """A new run in an absent or empty folder; `info` is what `run.json` holds beside schema and state."""
    refuse_used(path)
    with writing_to(path):
        path.mkdir(parents=True, exist_ok=True)

    def fresh() -> dict[str, Any]:
        refuse_used(path)
        return {"schema": f"{SCHEMA_NAME}/{SCHEMA_MAJOR}", **info}

    return _start(path, fresh)


def resume(path: Path) -> RunDir:
    """Go on with an interrupted or failed run."""
    resumable(path)
    return _start(path, lambda: resumable(path))


def read_info(path: Path) -> dict[str, Any]:
    """The content of `run.json`."""
    try:
        info = json.loads((path / "run.json").read_bytes())
    except (FileNotFoundError, NotADirectoryError) as error:
        hint = "pass the folder that `specprof run --out` or `specprof import --out` wrote"
        raise UsageError(f"`{path}` is not a run directory: it has no run.json", hint) from error
    except ValueError as error:
        raise DamagedError(f"`{path / 'run.json'}` is damaged: {error}", "restore it from a copy") from error
    name, _, major = str(info.get("schema") if isinstance(info, dict) else None).partition("/")
    if name != SCHEMA_NAME or not major.isdecimal():
        raise UsageError(f"`{path / 'run.json'}` has no schema `{SCHEMA_NAME}/…`", "pass a folder written by specprof")
    if int(major) > SCHEMA_MAJOR:
        raise UsageError(
            f"`{path / 'run.json'}` has schema {major}; this specprof reads up to {SCHEMA_MAJOR}", "upgrade specprof"
        )
    if info.get("state") not in STATES:
        raise DamagedError(f"`{path / 'run.json'}` has state {info.get('state')!r}", f"use one of {', '.join(STATES)}")
    arms = info.get("arms", {})
    if not isinstance(arms, dict) or not all(isinstance(arm, dict) for arm in arms.values()):
        raise DamagedError(f"`{path / 'run.json'}` has no map of arms", "restore it from a copy")
    return dict(info)


def effective_state(info: Mapping[str, Any]) -> str:
    """The recorded state, but `interrupted` for a running one whose process is gone."""
    if info["state"] == "running" and not (info.get("running") and alive(info["running"])):
        return "interrupted"
    return str(info["state"])


def refuse_used(path: Path) -> None:
    """Raise `UsageError` where a new run has no place."""
    if (path / "run.json").exists():
        raise UsageError(
            f"`{path}` already holds a run",
            "pass another `--out`; `specprof run` goes on with its own run given `--resume`",
        )
    if path.is_dir() and any(not entry.name.startswith(".") for entry in path.iterdir()):
        raise UsageError(f"`{path}` is not empty and holds no run", "pass another `--out`")
    nearest = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not os.access(nearest, os.W_OK):
        raise EnvironmentError_(
            f"cannot write to `{nearest}`", "check its rights and mount options, or pass another `--out`"
        )


def resumable(path: Path) -> dict[str, Any]:
    """`run.json` of a run that can go on; `UsageError` for one that is complete or that a process is writing."""
    info = read_info(path)
    state = effective_state(info)
    if state == "complete":
        raise UsageError(f"run `{path}` is complete: nothing to resume", f"read it with `specprof report {path}`")
    if state == "running":
        owner = info["running"]
        raise UsageError(
            f"process {owner['pid']} on {owner['host']} is writing `{path}`",
            "wait for it, or pass another `--out`; if that host is gone, set `state` in run.json to `interrupted`",
        )
    return info


def _start(path: Path, info: Callable[[], dict[str, Any]]) -> RunDir:
    """`info` runs under the lock: another process may have started, or ended, the run since we looked."""
    with writing_to(path):
        lock = _lock(path)
    try:
        _write(path, {"started_at": _now()} | info() | {"state": "running", "running": this_process()})
        with writing_to(path):
            for folder in ("requests", "spool", ".tmp"):
                (path / folder).mkdir(exist_ok=True)
    except BaseException:
        os.close(lock)
        raise
    return RunDir(path, lock)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _lock(path: Path) -> int:
    """The kernel drops the lock with the process. The file holds the pid for the message to the second one."""
    lock = os.open(path / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
    except BlockingIOError as error:
        pid = os.pread(lock, 20, 0).decode()
        os.close(lock)
        raise UsageError(f"process {pid} is writing `{path}`", "wait for it, or pass another `--out`") from error
    return lock


def _write(path: Path, info: Mapping[str, Any]) -> None:
    temporary = path / ".run.json.tmp"
    with writing_to(path):
        temporary.write_text(json.dumps(info, indent=1, ensure_ascii=False), encoding="utf-8")
        sync(temporary)
        os.replace(temporary, path / "run.json")
        sync(path)
