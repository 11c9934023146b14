"""The record layouts, recognised by their keys. A new one is a function to an `Entry`, and a line in LAYOUTS."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from specprof.errors import BadRecordError, did_you_mean
from specprof.prompts import batch, fields
from specprof.prompts.content import EXAMPLE, TEXT, Content, Entry, chat, raw
from specprof.prompts.conversations import read_sharegpt, read_turns

Reader = Callable[[Mapping[str, Any], str], Entry]


def _prompt(record: Mapping[str, Any], place: str) -> Entry:
    return _question(record, place, raw(record["prompt"], "prompt", place))


def _messages(record: Mapping[str, Any], place: str) -> Entry:
    return _question(record, place, chat(record["messages"], "messages", place))


def _question(record: Mapping[str, Any], place: str, content: Content) -> Entry:
    """Benchmarks name their records with `question_id` and `category`; elsewhere a category is any other field."""
    if "question_id" not in record:
        return Entry((content,))
    id, task = fields.name(record, "question_id", place), fields.text(record, "category", place)
    return Entry((content,), id=id, task=task)


LAYOUTS: Mapping[str, Reader] = {
    "prompt": _prompt,
    "messages": _messages,
    "turns": read_turns,
    "conversations": read_sharegpt,
}
_NAMES: Mapping[str, str] = {"turns": "Spec-Bench", "conversations": "ShareGPT"}
_SPEED_BENCH = ("sub_category", "multiturn")
_OWN = ("id", "task", "conversation_id", "question_id", "category")
BATCH, FIELD = "OpenAI batch", "--field"


def recognise(record: Mapping[str, Any], place: str, field: str | None = None) -> tuple[str, Entry]:
    """(layout name, entry): the text under `field` where one is named, else by the one layout key of the record."""
    if TEXT in record:
        return TEXT, Entry((raw(record[TEXT], TEXT, place),))
    if field is not None:
        return FIELD, Entry((_value(find(record, field, place), field, place),))
    if batch.is_batch(record):
        return BATCH, batch.read(record, place)
    keys = [key for key in LAYOUTS if key in record]
    if len(keys) == 1:
        return _name(keys[0], record), LAYOUTS[keys[0]](record, place)
    if keys:
        hint = f"keep the one that is sent, or name it: `--field {keys[0]}`"
        raise BadRecordError(place, f'has both "{keys[0]}" and "{keys[1]}"', hint)
    *most, last = (f'"{key}"' for key in LAYOUTS)
    raise BadRecordError(place, f"has neither {', '.join(most)} nor {last}", _near(record, LAYOUTS) or _text_of(record))


def find(record: Mapping[str, Any], path: str, place: str) -> Any:
    """The value under a key, or under a path of keys and list indexes with dots between them."""
    if path in record:
        return record[path]
    value: Any = record
    for key in path.split("."):
        if isinstance(value, list) and key in map(str, range(len(value))):
            value = value[int(key)]
        elif isinstance(value, dict) and key in value:
            value = value[key]
        else:
            raise BadRecordError(place, f'has no "{path}"', did_you_mean(path, record, f"it has {_listed(record)}"))
    return value


def _value(value: Any, field: str, place: str) -> Content:
    return chat(value, field, place) if isinstance(value, list) else raw(value, field, place)


def _name(key: str, record: Mapping[str, Any]) -> str:
    if key == "turns" and any(mark in record for mark in _SPEED_BENCH):
        return "SPEED-Bench"
    return _NAMES.get(key, key)


def _listed(record: Mapping[str, Any]) -> str:
    return ", ".join(f'"{key}"' for key in record) or "no field at all"


def _near(record: Mapping[str, Any], known: Iterable[str]) -> str | None:
    """A hint at the first key of the record that looks like one of the known ones."""
    return next((f"`{key}`: {found}" for key in record if (found := did_you_mean(key, known))), None)


def _text_of(record: Mapping[str, Any]) -> str:
    """A hint at the longest text of the record, which may be what is to be sent."""
    texts = {key: len(value) for key, value in record.items() if isinstance(value, str) and key not in _OWN}
    if not texts:
        return EXAMPLE
    return f"pass `--field {max(texts, key=lambda key: texts[key])}` if that is the text to send; {EXAMPLE}"
