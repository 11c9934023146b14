"""One record → one `Request`: fields, hard checks, and the last round made to fit the response."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from specprof.errors import BadRecordError, did_you_mean
from specprof.importers.native.rounds import rounds_of
from specprof.importers.native.values import LONG, PER_ROUND, PER_TOKEN, REQUEST_KINDS, UNKNOWN
from specprof.records import BASELINE, CENSOR_REASONS, TOTALS, Request

ARM = "imported"
EXAMPLE = (
    '{"request_id": "r1", "task": "code", "prompt_tokens": 90, "response_tokens": 10, '
    '"drafted": [5, 5], "accepted": [3, 5]}'
)
_REQUIRED = ("request_id", "task", "prompt_tokens", "response_tokens")
FIELDS = (*REQUEST_KINDS, *PER_ROUND, *PER_TOKEN, *TOTALS)


def request_of(record: Mapping[str, Any], place: str) -> Request:
    """The request of a record, or a `BadRecordError`. JSON null counts as absent."""
    record = {name: value for name, value in record.items() if value is not None or name not in FIELDS}
    _check_fields(record, place)
    values = {
        name: kind.check(f'"{name}"', record[name], place) for name, kind in REQUEST_KINDS.items() if name in record
    }
    values = {"arm": ARM, "prompt_id": values["request_id"]} | values
    given = Request(**values, rounds=rounds_of(record, place))
    if problem := given.problem():
        raise BadRecordError(place, f"is impossible: {problem}")
    if given.arm == BASELINE and any(step.drafted for step in given.rounds):
        raise BadRecordError(place, 'drafts tokens in the arm "baseline"', "it is plain decoding: name another arm")
    fitted = given if "emitted" in record else _fitted(given)
    _check_totals(record, given, fitted, place)
    return _with_reason(fitted)


def _check_fields(record: Mapping[str, Any], place: str) -> None:
    for name in record:
        if name not in FIELDS:
            hint = did_you_mean(name, FIELDS, 'values of your own go into "labels": {"name": "text"}')
            raise BadRecordError(place, f'has an unknown field "{name}"', hint)
    plain = record.get("arm") == BASELINE
    for name in _REQUIRED if plain else (*_REQUIRED, "drafted", "accepted"):
        if name not in record:
            raise BadRecordError(place, f'has no "{name}"', f"a record looks like {EXAMPLE}")


def _fitted(request: Request) -> Request:
    """Cut the last round where the rounds emit more than the response holds, by no more than that round's tokens."""
    excess = -request.unbalanced
    if excess <= 0 or not request.rounds or excess > request.rounds[-1].accepted + 1:
        return request
    last = request.rounds[-1]
    emitted = last.emitted - excess
    raw = last.accepted if last.accepted_raw is None else last.accepted_raw
    cut = replace(last, emitted=emitted, accepted=min(last.accepted, emitted), accepted_raw=raw)
    return request.with_(rounds=(*request.rounds[:-1], cut))


def _check_totals(record: Mapping[str, Any], given: Request, fitted: Request, place: str) -> None:
    """A total may count the last round before or after it was cut: both are counts of the record's lists."""
    for name, total in TOTALS.items():
        if name in record and LONG.check(f'"{name}"', record[name], place) not in (total(given), total(fitted)):
            raise BadRecordError(place, f'has "{name}" {record[name]}, but its lists give {total(given)}')
    if given.accepted_hist not in (None, _histogram(given), _histogram(fitted)):
        raise BadRecordError(place, f'has an "accepted_hist" unlike its list "accepted": {dict(_histogram(given))}')


def _histogram(request: Request) -> Mapping[int, int]:
    return Counter(step.accepted for step in request.rounds)


def _with_reason(request: Request) -> Request:
    """A cut last round says why: the finish reason, where that is one that cuts."""
    if request.censor_reason or not request.rounds or not request.rounds[-1].censored:
        return request
    reason = request.finish_reason if request.finish_reason in CENSOR_REASONS else UNKNOWN
    return request.with_(censor_reason=reason)
