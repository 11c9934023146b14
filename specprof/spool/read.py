"""Parsing a segment, also while its writer appends to it."""

from dataclasses import dataclass
from pathlib import Path

from specprof.errors import DamagedError, UsageError
from specprof.spool.frame import CLOSE, COUNT, VERSION, Frame, Header, frame_after, frame_at, version_of


@dataclass(frozen=True, slots=True)
class Segment:
    """`closed`: its writer ended it, so nothing is missing. `torn`: an unfinished frame at the end was left out.
    `damage`: what is wrong and where; then `frames` are those before it."""

    path: Path
    header: Header | None
    frames: tuple[Frame, ...] = ()
    closed: bool = False
    torn: bool = False
    damage: str | None = None


def read_segment(path: Path) -> Segment:
    """`DamagedError` if anything but the tail is wrong, `UsageError` for a newer format."""
    segment = scan_segment(path)
    if segment.damage:
        raise damaged(segment)
    return segment


def damaged(segment: Segment) -> DamagedError:
    return DamagedError(f"`{segment.path}` {segment.damage}", "pass `--skip-bad` to go on with what precedes it")


def scan_segment(path: Path) -> Segment:
    """Like `read_segment`, but damage comes back in the segment."""
    seen = None
    # A writer that appends while we read looks like damage, which moves on when we look again.
    while (segment := _parse(path, path.read_bytes())).damage != seen:
        seen = segment.damage
    return segment


def _parse(path: Path, data: bytes) -> Segment:
    if (version := version_of(data)) is not None and version > VERSION:
        raise UsageError(
            f"`{path}` has spool format {version}; this specprof reads up to {VERSION}", "upgrade specprof"
        )
    if not data.strip(b"\0"):  # the writer has not come to the header yet
        return Segment(path, None)
    start = Header.unpack(data)
    if start is None:
        half = version is None and not data[:8].strip(b"\0") and not frame_after(data, 0)
        return Segment(path, None, torn=half, damage=None if half else "is no spool segment: bad header at byte 0")
    return _parse_frames(path, data, *start)


def _parse_frames(path: Path, data: bytes, header: Header, at: int) -> Segment:
    frames: list[Frame] = []
    while found := frame_at(data, at):
        frame, at = found
        if frame.kind == CLOSE:
            return _closed(path, header, tuple(frames), frame)
        frames.append(frame)
    if frame_after(data, at):
        return Segment(path, header, tuple(frames), damage=f"is damaged at byte {at}")
    return Segment(path, header, tuple(frames), torn=bool(data[at:].strip(b"\0")))


def _closed(path: Path, header: Header, frames: tuple[Frame, ...], close: Frame) -> Segment:
    (count,) = COUNT.unpack(close.payload)
    wrong = None if count == len(frames) else f"was closed with {count} frames and holds {len(frames)}"
    return Segment(path, header, frames, closed=wrong is None, damage=wrong)
