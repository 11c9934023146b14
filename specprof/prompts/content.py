"""What one record asks for, whatever its layout."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from specprof.errors import BadRecordError, did_you_mean
from specprof.prompts.lines import shown

TEXT = "plain text"  # layout and key of a line that is no JSON
ROLES = ("system", "developer", "user", "assistant", "tool")
EXAMPLE = 'a record looks like {"prompt": "…"} or {"messages": [{"role": "user", "content": "…"}]}'


@dataclass(frozen=True, slots=True)
class Content:
    """What is sent: `text` as it is, or `messages` through the chat template. `answered`: the data held an answer to
    them, which is not among them."""

    text: str | None = None
    messages: tuple[Mapping[str, Any], ...] | None = None
    answered: bool = False

    @property
    def searchable(self) -> str:
        """What task rules match: the text, or the contents of all messages, one per line."""
        return self.text if self.text is not None else "\n".join(m["content"] for m in self.messages or ())


@dataclass(frozen=True, slots=True)
class Entry:
    """One prompt, or the turns of one conversation (`turns` says which it is).

    `history`: each turn's messages hold all that went before; without it they are that turn's alone.
    `id` and `task` are those that the layout keeps under names of its own. `not_obeyed` are settings of the record
    that a run does not follow, because sampling is the run's.
    """

    contents: tuple[Content, ...]
    turns: bool = False
    history: bool = True
    id: str | None = None
    task: str | None = None
    output_tokens: int | None = None
    not_obeyed: tuple[str, ...] = ()


def user(text: str) -> Mapping[str, Any]:
    return {"role": "user", "content": text}


def raw(value: object, key: str, place: str) -> Content:
    """A prompt that is sent as it is."""
    if not isinstance(value, str):
        raise BadRecordError(place, f'has a "{key}" that is not text: {shown(value)}')
    if not value.strip():
        raise BadRecordError(place, f'has an empty "{key}"')
    return Content(text=value)


def chat(value: object, key: str, place: str) -> Content:
    """Messages with a role and a text each, up to the last one that an assistant is to answer."""
    if not isinstance(value, list):
        raise BadRecordError(place, f'has "{key}" that are not a list: {shown(value)}')
    for index, message in enumerate(value):
        _check_message(message, place, index)
    if not any(message["content"].strip() for message in value):
        raise BadRecordError(place, f'has "{key}" without any text')
    messages = [{name: message[name] for name in ("role", "content")} for message in value]
    while messages and messages[-1]["role"] == "assistant":
        del messages[-1]
    if not messages:
        raise BadRecordError(place, f'has "{key}" in which only the assistant speaks')
    return Content(messages=tuple(messages), answered=len(messages) < len(value))


def _check_message(message: object, place: str, index: int) -> None:
    if not isinstance(message, dict):
        raise BadRecordError(place, f"has message {index} that is not an object: {shown(message)}")
    for key in ("role", "content"):
        if key not in message:
            hint = next((f"`{near}`: {found}" for near in message if (found := did_you_mean(near, [key]))), EXAMPLE)
            raise BadRecordError(place, f'has message {index} without "{key}"', hint)
        if not isinstance(message[key], str):
            hint = "images, tool calls and lists of parts are not read: give the text alone"
            raise BadRecordError(place, f'has message {index} whose "{key}" is not text: {shown(message[key])}', hint)
    if message["role"] not in ROLES:
        near = did_you_mean(message["role"], ROLES, f"known roles: {', '.join(ROLES)}")
        raise BadRecordError(place, f"has message {index} with the role {shown(message['role'])}", near)
