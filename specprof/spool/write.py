"""Appending to the spool: one memory copy per frame, no system call."""

import fcntl
import os
import re
import time
from collections.abc import Mapping
from mmap import mmap
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from specprof.errors import UsageError
from specprof.records import Round
from specprof.spool.disk import writing_to
from specprof.spool.frame import BEGIN, CLOSE, CLOSE_BYTES, COUNT, END, MAGIC, ROUND, Header, pack
from specprof.spool.payload import encode_fields, encode_round

_IDENTITY = frozenset({"request_id", "prompt_id", "arm", "task"})


class SpoolWriter:
    """Segments `<folder>/<writer>-<sequence>.seg` of one writer; what was appended survives a SIGKILL.

    `key` tells concurrent requests apart and may be used again after `end`. A segment is allocated as a whole, so a
    full disk is an `EnvironmentError_` of the call that opens one. Not for use by several threads at once.
    """

    def __init__(self, folder: Path, writer: str, segment_bytes: int = 4 << 20) -> None:
        if not re.fullmatch(r"[A-Za-z0-9._-]+", writer):
            raise UsageError(f"writer `{writer}` cannot be part of a file name", "use letters, digits, `.`, `_` or `-`")
        self._folder = folder
        self._life = (writer, time.time_ns(), os.getpid())
        self._segment_bytes = segment_bytes
        self._sequence = 0
        self._rounds: dict[int, int] = {}
        self._segment: _OpenSegment | None = self._open(0)

    def begin(self, key: int, request: Mapping[str, Any]) -> None:
        """`request` holds the `Request` fields known now: at least request_id, prompt_id, arm and task."""
        if missing := _IDENTITY - request.keys():
            raise TypeError(f"a request begins with {', '.join(sorted(missing))}")
        self._append(BEGIN, key, encode_fields(request))
        self._rounds[key] = 0

    def round(self, key: int, round: Round) -> None:
        rounds = self._rounds[key]
        self._append(ROUND, key, encode_round(round))
        self._rounds[key] = rounds + 1

    def end(self, key: int, request: Mapping[str, Any]) -> None:
        """`request` holds what became known since `begin`; see `fields_of`."""
        self._append(END, key, encode_fields({**request, "rounds": self._rounds[key]}))
        del self._rounds[key]

    def roll(self) -> None:
        """Close the segment, so that it can be sealed, and start the next. Requests may go on across the two."""
        if self._segment is None or self._segment.frames:
            self._next(0)

    def close(self) -> None:
        if self._segment is not None:
            self._segment.close()
            self._segment = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _append(self, kind: int, key: int, payload: bytes) -> None:
        frame = pack(kind, key, payload)
        segment = self._segment
        if segment is None or len(frame) > segment.room:
            segment = self._next(len(frame))
        segment.append(frame)

    def _next(self, frame_bytes: int) -> "_OpenSegment":
        self.close()
        self._segment = segment = self._open(frame_bytes)
        return segment

    def _open(self, frame_bytes: int) -> "_OpenSegment":
        with writing_to(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            while True:
                header = Header(*self._life, self._sequence)
                path = self._folder / f"{header.writer}-{header.sequence:05d}.seg"
                self._sequence += 1
                if descriptor := _claim(path):
                    return _OpenSegment(path, descriptor, header.pack(), frame_bytes, self._segment_bytes)


class _OpenSegment:
    """One mapped file. Its lock, which the kernel drops with the process, tells a sealer that the writer lives."""

    def __init__(self, path: Path, descriptor: int, header: bytes, frame_bytes: int, segment_bytes: int) -> None:
        size = max(segment_bytes, len(header) + frame_bytes + CLOSE_BYTES)
        try:
            _allocate(descriptor, size)
            self._map = mmap(descriptor, size)
        except BaseException:
            path.unlink()
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        self._at = len(header)
        self._limit = size - CLOSE_BYTES
        self.frames = 0
        self._map[len(MAGIC) : len(header)] = header[len(MAGIC) :]
        self._map[: len(MAGIC)] = MAGIC  # last, so that a live reader sees a whole header or none

    @property
    def room(self) -> int:
        return self._limit - self._at

    def append(self, frame: bytes) -> None:
        at, end = self._at, self._at + len(frame)
        self._map[at + 4 : end] = frame[4:]
        self._map[at : at + 4] = frame[:4]  # the length last, so that a live reader sees a whole frame or none
        self._at, self.frames = end, self.frames + 1  # last: an interrupt before it leaves the frame to be overwritten

    def close(self) -> None:
        self.append(pack(CLOSE, 0, COUNT.pack(self.frames)))
        self._map.close()
        os.ftruncate(self._descriptor, self._at)
        os.close(self._descriptor)


def _claim(path: Path) -> int | None:
    """A new locked file; None if the name is taken or a sealer took the file for a dead writer's before the lock."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except FileExistsError:
        return None
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    if os.fstat(descriptor).st_nlink:
        return descriptor
    os.close(descriptor)
    return None


def _allocate(descriptor: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
        return
    done = 0  # macOS
    while done < size:
        done += os.pwrite(descriptor, bytes(size - done), done)
