"""From frames back to requests, across the segments of one writer."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specprof.records import Request, Round
from specprof.spool.frame import BEGIN, END, ROUND
from specprof.spool.payload import decode_fields, decode_round
from specprof.spool.read import Segment


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request and the segments that hold a part of it."""

    request: Request
    paths: frozenset[Path]


def read_requests(segments: Iterable[Segment]) -> list[Request]:
    """One request per begin frame. Without an end, or with rounds missing, it has `complete=False`, no finish reason
    and as many response tokens as its rounds emitted. Frames whose begin frame is gone are left out."""
    return [attempt.request for attempt in read_attempts(segments)]


def read_attempts(segments: Iterable[Segment]) -> list[Attempt]:
    """Like `read_requests`; the lives of writers come in the order in which they started."""
    lives: defaultdict[tuple[int, int, str], list[Segment]] = defaultdict(list)
    for segment in segments:
        if segment.header:
            lives[segment.header.opened_ns, segment.header.pid, segment.header.writer].append(segment)
    return [attempt for life in sorted(lives) for attempt in _life(lives[life], writer=life[2])]


@dataclass(slots=True)
class _Open:
    fields: dict[str, Any]
    rounds: list[Round] = field(default_factory=list)
    before: list[Round] = field(default_factory=list)
    paths: set[Path] = field(default_factory=set)

    def attempt(self, end: dict[str, Any] | None = None) -> Attempt:
        whole = end is not None and end.pop("rounds") == len(self.rounds)
        values = self.fields | (end or {})
        rounds = self.rounds if whole else max(self.rounds, self.before, key=len)
        emitted = values.get("first_tokens", 0) + sum(round.emitted for round in rounds)
        values = {"prompt_tokens": 0, "response_tokens": emitted} | values
        if not whole:
            values |= {"complete": False, "finish_reason": None, "response_tokens": emitted}
        return Attempt(Request(rounds=tuple(rounds), **values), frozenset(self.paths))


def _life(segments: list[Segment], writer: str) -> Iterator[Attempt]:
    open: dict[int, _Open] = {}
    for segment in sorted(segments, key=lambda segment: segment.header.sequence if segment.header else 0):
        for kind, key, payload in segment.frames:
            if kind == BEGIN:
                fields = decode_fields(payload) | {"writer": writer}
                earlier = open.pop(key, None)
                same = earlier is not None and earlier.fields["request_id"] == fields["request_id"]
                if earlier and not same:
                    yield earlier.attempt()
                # Begun again under its own id, a request starts over; its rounds count till as many new ones stand.
                open[key] = _Open(fields)
                if earlier and same:
                    open[key] = _Open(fields, before=max(earlier.rounds, earlier.before, key=len), paths=earlier.paths)
            if (request := open.get(key)) is None:
                continue
            request.paths.add(segment.path)
            if kind == ROUND:
                request.rounds.append(decode_round(payload))
            elif kind == END:
                yield open.pop(key).attempt(decode_fields(payload))
        if not segment.closed:  # its end is lost, so open requests would go on with a gap
            yield from (open.pop(key).attempt() for key in list(open))
    yield from (request.attempt() for request in open.values())
