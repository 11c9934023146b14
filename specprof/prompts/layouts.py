"""The record layouts. A new one is a function from its field to a `Content`, and a line in LAYOUTS."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from specprof.errors import BadRecordError, did_you_mean
from specprof.prompts.lines import shown

_EXAMPLE = 'a record looks like {"prompt": "…"} or {"messages": [{"role": "user", "content": "…"}]}'


@dataclass(frozen=True, slots=True)
class Content:
    """What is sent: `text` as it is, or `messages` through the chat template."""

    text: str | None = None
    messages: tuple[Mapping[str, Any], ...] | None = None

    @property
    def searchable(self) -> str:
        """What task rules match: the text, or the contents of all messages, one per line."""
        return self.text if self.text is not None else "\n".join(m["content"] for m in self.messages or ())


def _raw(value: object, place: str) -> Content:
    if not isinstance(value, str):
        raise BadRecordError(place, f'has a "prompt" that is not text: {shown(value)}')
    if not value.strip():
        raise BadRecordError(place, 'has an empty "prompt"')
    return Content(text=value)


def _chat(value: object, place: str) -> Content:
    if not isinstance(value, list):
        raise BadRecordError(place, f'has "messages" that are not a list: {shown(value)}')
    for index, message in enumerate(value):
        _check_message(message, place, index)
    if not any(message["content"].strip() for message in value):
        raise BadRecordError(place, 'has "messages" without any text')
    return Content(messages=tuple(value))


def _check_message(message: object, place: str, index: int) -> None:
    if not isinstance(message, dict):
        raise BadRecordError(place, f"has message {index} that is not an object: {shown(message)}")
    for key in ("role", "content"):
        if key not in message:
            raise BadRecordError(place, f'has message {index} without "{key}"', _near(message, [key], _EXAMPLE))
        if not isinstance(message[key], str):
            hint = "images, tool calls and lists of parts are not read: give the text alone"
            raise BadRecordError(place, f'has message {index} whose "{key}" is not text: {shown(message[key])}', hint)
    if not message["role"].strip():
        raise BadRecordError(place, f'has message {index} with an empty "role"')


LAYOUTS: Mapping[str, Callable[[object, str], Content]] = {"prompt": _raw, "messages": _chat}


def recognise(record: Mapping[str, Any], place: str) -> tuple[str, Content]:
    """(layout name, content) by the one layout key that the record has."""
    keys = [key for key in LAYOUTS if key in record]
    if len(keys) == 1:
        return keys[0], LAYOUTS[keys[0]](record[keys[0]], place)
    if keys:
        raise BadRecordError(place, f"has both {_quoted(keys, 'and')}", "keep the one that is sent")
    raise BadRecordError(place, f"has neither {_quoted(list(LAYOUTS), 'nor')}", _near(record, LAYOUTS, _EXAMPLE))


def _quoted(keys: list[str], word: str) -> str:
    return f" {word} ".join(f'"{key}"' for key in keys)


def _near(record: Mapping[str, Any], known: Iterable[str], otherwise: str) -> str:
    """A hint at the first key of the record that looks like one of the known ones."""
    return next((f"`{key}`: {found}" for key in record if (found := did_you_mean(key, known))), otherwise)
