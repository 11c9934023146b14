"""Version 1 of a shard: one row per request, its rounds as list columns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

import pyarrow as pa

from specprof.records import SCHEMA_VERSION, TOTALS, Request

_TEXT, _INT, _LONG, _FLOAT, _BOOL = pa.string(), pa.int32(), pa.int64(), pa.float32(), pa.bool_()
_INTS, _FLOATS = pa.list_(_INT), pa.list_(_FLOAT)

_TYPES: Mapping[str, pa.DataType] = {
    "request_id": _TEXT,
    "engine_request_id": _TEXT,
    "prompt_id": _TEXT,
    "conversation_id": _TEXT,
    "turn": _INT,
    "sample": _INT,
    "seed": _LONG,
    "arm": _TEXT,
    "arm_order": _INT,
    "block": _INT,
    "phase": _TEXT,
    "task": _TEXT,
    "labels": pa.map_(_TEXT, _TEXT),
    "prompt_tokens": _INT,
    "cached_prompt_tokens": _INT,
    "response_tokens": _INT,
    "first_tokens": _INT,
    "first_chunk_tokens": _INT,
    "max_tokens": _INT,
    "finish_reason": _TEXT,
    "censor_reason": _TEXT,
    "complete": _BOOL,
    "started_at": pa.timestamp("us", tz="UTC"),
    "queue_us": _LONG,
    "ttft_us": _LONG,
    "latency_us": _LONG,
    "rounds": _INT,
    "proposed_total": _INT,
    "drafted_total": _INT,
    "accepted_total": _INT,
    "emitted_total": _INT,
    "regenerations": _INT,
    "excluded": pa.map_(_TEXT, _INT),
    "proposed": _INTS,
    "drafted": _INTS,
    "width": _INTS,
    "accepted": _INTS,
    "accepted_raw": _INTS,
    "emitted": _INTS,
    "step": _INTS,
    "batch": _INTS,
    "draft_us": _INTS,
    "verify_us": _INTS,
    "step_us": _INTS,
    "confidence": _FLOATS,
    "target_prob": _FLOATS,
    "draft_ids": _INTS,
    "drafter_ran": pa.list_(_BOOL),
    "prompt_ids": _INTS,
    "output_ids": _INTS,
    "prompt_text": _TEXT,
    "output_text": _TEXT,
    "accepted_hist": pa.map_(_INT, _INT),
    "output_sha256": pa.binary(),
    "first_divergence": _INT,
    "lossy": _BOOL,
    "rank": _INT,
    "writer": _TEXT,
    "load_1m": _FLOAT,
}
COUNTS = ("proposed", "drafted", "accepted", "emitted")
SUMMED = tuple(f"{name}_total" for name in COUNTS)
PER_ROUND = (
    *COUNTS,
    *("width", "accepted_raw", "step", "batch", "draft_us", "verify_us", "step_us", "drafter_ran"),
)
PER_TOKEN = ("confidence", "target_prob", "draft_ids")  # flat over the rounds, offsets by `proposed`
REQUIRED = (
    *("request_id", "prompt_id", "sample", "arm", "phase", "task"),
    *("prompt_tokens", "response_tokens", "first_tokens", "complete"),
    *("rounds", *SUMMED, "regenerations", "excluded", *COUNTS, "writer"),
)
VERSION_KEY, RUN_KEY = b"specprof.schema", b"specprof.run_id"
SCHEMA = pa.schema(
    [pa.field(name, type, nullable=name not in REQUIRED) for name, type in _TYPES.items()],
    metadata={VERSION_KEY: str(SCHEMA_VERSION)},
)
_INT_MAX = 2**31 - 1  # of a `_us` element: a round of 36 minutes or more means that the process was stopped

_DERIVED: Mapping[str, Callable[[Request], Any]] = {
    "labels": lambda request: list(request.labels.items()),
    "excluded": lambda request: list(request.excluded.items()),
    "accepted_hist": lambda request: None if request.accepted_hist is None else list(request.accepted_hist.items()),
    "started_at": lambda request: None if request.started_at is None else round(request.started_at * 1e6),
    **TOTALS,
    "writer": lambda request: request.writer or "",
}


def rows(requests: Iterable[Request]) -> pa.Table:
    """One row per request. An optional list is null where no round has it; rounds that lack it hold null elements."""
    batch = list(requests)
    return pa.Table.from_arrays([pa.array(_cells(batch, f.name), f.type) for f in SCHEMA], schema=SCHEMA)


def _cells(batch: Sequence[Request], name: str) -> list[Any]:
    if name in PER_ROUND:
        return [_per_round(request, name) for request in batch]
    if name in PER_TOKEN:
        return [_per_token(request, name) for request in batch]
    cell = _DERIVED.get(name)
    return [cell(request) if cell else getattr(request, name) for request in batch]


def _per_round(request: Request, name: str) -> list[Any] | None:
    values = [getattr(round, name) for round in request.rounds]
    if name in COUNTS:
        return values
    if name.endswith("_us"):
        values = [value if value is None else min(value, _INT_MAX) for value in values]
    return None if all(value is None for value in values) else values


def _per_token(request: Request, name: str) -> list[Any] | None:
    if all(getattr(round, name) is None for round in request.rounds):
        return None
    return list(
        chain.from_iterable(
            repeat(None, round.proposed) if (entries := getattr(round, name)) is None else entries
            for round in request.rounds
        )
    )
