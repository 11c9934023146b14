"""The optional fields that a prompt record of any layout may have. JSON null counts as absent."""

from collections.abc import Mapping
from typing import Any

from specprof.errors import BadRecordError
from specprof.prompts.lines import shown


def name(record: Mapping[str, Any], key: str, place: str) -> str | None:
    """Text or a whole number, as text (ids are often numbers)."""
    value = record.get(key)
    if value is None:
        return None
    if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip() and str(value).isprintable():
        return str(value)
    raise BadRecordError(place, f'has "{key}" {shown(value)}', "it must be one line of text, or a whole number")


def text(record: Mapping[str, Any], key: str, place: str) -> str | None:
    value = record.get(key)
    if value is None or (isinstance(value, str) and value.strip() and value.isprintable()):
        return value
    raise BadRecordError(place, f'has "{key}" {shown(value)}', "it must be one line of text that is not empty")


def whole(record: Mapping[str, Any], key: str, place: str, least: int) -> int | None:
    value = record.get(key)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**31:
        return value
    raise BadRecordError(place, f'has "{key}" {shown(value)}', f"it must be a whole number from {least} to 2³¹ − 1")


def output_tokens(record: Mapping[str, Any], place: str, key: str = "output_tokens") -> int | None:
    if record.get(key) == 0 and record[key] is not False:
        raise BadRecordError(place, "asks for zero new tokens", f"`{key}` must be at least 1; or leave it out")
    return whole(record, key, place, least=1)


def labels(record: Mapping[str, Any], place: str) -> Mapping[str, str]:
    value = record.get("labels")
    if value is None:
        return {}
    if isinstance(value, dict) and "template" in value:
        raise BadRecordError(place, 'has a label "template"', "that name is taken (raw or chat): choose another")
    if isinstance(value, dict) and all(isinstance(i, str) and i.isprintable() for i in [*value, *value.values()]):
        return value
    raise BadRecordError(place, f'has "labels" {shown(value)}', 'it must map text to text: {"language": "en"}')
