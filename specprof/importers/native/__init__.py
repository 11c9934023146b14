"""The native JSONL format: one request per line, with one list entry per round."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from specprof.errors import BadRecordError, UsageError
from specprof.importers.native.request import request_of
from specprof.prompts.lines import lines, parse
from specprof.prompts.sources import name_of
from specprof.records import Request

__all__ = ["Imported", "read_native"]

SHOWN = 10


@dataclass(frozen=True, slots=True)
class Imported:
    """`skipped` holds a sentence per bad record; `unbalanced` counts the requests whose rounds miss the response."""

    requests: tuple[Request, ...]
    skipped: tuple[str, ...]
    unbalanced: int


def read_native(path: str | Path, *, skip_bad: bool = False) -> Imported:
    """Read a file or `-` (standard input). One bad record refuses the whole file, unless `skip_bad`. Several answers of
    an arm to one prompt are numbered as samples where the records do not number them."""
    requests: list[Request] = []
    places: dict[str, str] = {}
    answers: Counter[tuple[str, str, str]] = Counter()
    faults: list[BadRecordError] = []
    for place, line in lines(path):
        try:
            record = parse(place, line)
            request = request_of(record, place)
            if (first := places.setdefault(request.request_id, place)) != place:
                raise BadRecordError(place, f'repeats the request_id "{request.request_id}" of `{first}`')
            if record.get("sample") is None:
                job = request.prompt_id, request.arm, request.phase
                request = request.with_(sample=answers[job])
                answers[job] += 1
            requests.append(request)
        except BadRecordError as fault:
            faults.append(fault)
    if faults and not (skip_bad and requests):
        raise _refusal(faults, name_of(path))
    return Imported(tuple(requests), tuple(map(str, faults)), sum(request.unbalanced != 0 for request in requests))


def _refusal(faults: list[BadRecordError], name: str) -> UsageError:
    hint = faults[0].hint or "correct the file; `--skip-bad` imports the records that are right"
    if len(faults) == 1:
        faults[0].hint = hint
        return faults[0]
    rest = [f"and {len(faults) - SHOWN} more"] if len(faults) > SHOWN else []
    listed = "\n  ".join([*map(str, faults[:SHOWN]), *rest])
    return UsageError(f"{len(faults)} records of `{name}` are wrong, nothing was imported:\n  {listed}", hint)
