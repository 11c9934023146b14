"""One row per arm and bucket, every figure a column: for spreadsheets."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from specprof.analysis.evaluate import Document, to_dict


def render(document: Document) -> str:
    rows = [dict(row) for row in _rows(to_dict(document))]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def _rows(document: Mapping[str, Any]) -> Iterator[Iterator[tuple[str, Any]]]:
    for arm in document["arms"]:
        place = {key: value for key, value in arm.items() if key not in ("costs", "overall", "tasks", "buckets")}
        place |= {"costs": " ".join(_cost(entry) for entry in arm["costs"])}
        levels = [("overall", arm["overall"])]
        levels += [("task", row) for row in arm["tasks"]] + [("bucket", row) for row in arm["buckets"]]
        for level, row in levels:
            yield _flatten(place | {"level": level} | row)


def _cost(entry: Mapping[str, Any]) -> str:
    names = ("alpha", "alpha_round", "beta", "phi")
    return ";".join(f"{name}={entry[name]['value']}" for name in names)


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            yield from _flatten({str(place): item for place, item in enumerate(value, 1)}, f"{prefix}{key}.")
        elif isinstance(value, list):
            yield f"{prefix}{key}", " ".join(str(item) for item in value)
        else:
            yield f"{prefix}{key}", value
