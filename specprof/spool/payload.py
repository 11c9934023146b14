"""Payloads of frames: rounds as a compact struct, requests as JSON of the fields known so far."""

import json
import struct
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from specprof.records import Request, Round

# proposed drafted accepted emitted width accepted_raw step batch | draft_us verify_us step_us | drafter_ran
# | entries of confidence, target_prob and draft_ids, which follow
_ROUND = struct.Struct("<8i3qb3x3i")
_NONE = -(1 << 31)

_FIELDS = tuple(f.name for f in fields(Request) if f.name != "rounds")
_DECODE: Mapping[str, Any] = {
    "output_sha256": bytes.fromhex,
    "prompt_ids": tuple,
    "output_ids": tuple,
    "accepted_hist": lambda hist: {int(accepted): rounds for accepted, rounds in hist.items()},
}


def encode_round(round: Round) -> bytes:
    confidence, target_prob, draft_ids = round.confidence, round.target_prob, round.draft_ids
    head = _ROUND.pack(
        round.proposed,
        round.drafted,
        round.accepted,
        round.emitted,
        _number(round.width),
        _number(round.accepted_raw),
        _number(round.step),
        _number(round.batch),
        _number(round.draft_us),
        _number(round.verify_us),
        _number(round.step_us),
        -1 if round.drafter_ran is None else round.drafter_ran,
        -1 if confidence is None else len(confidence),
        -1 if target_prob is None else len(target_prob),
        -1 if draft_ids is None else len(draft_ids),
    )
    if confidence is None and target_prob is None and draft_ids is None:
        return head
    return head + _packed(confidence, "f") + _packed(target_prob, "f") + _packed(draft_ids, "i")


def decode_round(payload: bytes) -> Round:
    """Confidences and probabilities come back with float32 precision."""
    *numbers, ran, confidences, target_probs, ids = _ROUND.unpack_from(payload)
    at = _ROUND.size
    arrays: list[Any] = []
    for entries, kind in ((confidences, "f"), (target_probs, "f"), (ids, "i")):
        arrays.append(None if entries < 0 else struct.unpack_from(f"<{entries}{kind}", payload, at))
        at += 4 * max(entries, 0)
    optional = [None if number == _NONE else number for number in numbers[4:]]
    values: list[Any] = [*numbers[:4], *optional, None if ran < 0 else bool(ran), *arrays]
    return Round(*values)


def fields_of(request: Request) -> dict[str, Any]:
    """What `SpoolWriter.end` wants of a finished request: every field that is known, without the rounds."""
    return {name: value for name in _FIELDS if (value := getattr(request, name)) is not None}


def encode_fields(values: Mapping[str, Any]) -> bytes:
    """JSON; bytes become hexadecimal."""
    return json.dumps(dict(values), default=_plain, separators=(",", ":")).encode()


def decode_fields(payload: bytes) -> dict[str, Any]:
    """Fields of `Request`, plus `rounds` as a count in an end frame; names of a newer minor version are left out."""
    known = {key: value for key, value in json.loads(payload).items() if key in _FIELDS or key == "rounds"}
    return {key: _DECODE[key](value) if key in _DECODE and value is not None else value for key, value in known.items()}


def _number(value: int | None) -> int:
    return _NONE if value is None else value


def _packed(values: tuple[Any, ...] | None, kind: str) -> bytes:
    return b"" if values is None else struct.pack(f"<{len(values)}{kind}", *values)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} cannot be spooled")
