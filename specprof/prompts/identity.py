"""The prompts of one record, with ids that depend on what is in it and not on where it lies."""

import hashlib
import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from specprof.errors import BadRecordError
from specprof.prompts import fields
from specprof.prompts.content import Entry
from specprof.records import Prompt


@dataclass(frozen=True, slots=True)
class Names:
    """What is taken: prompt ids with their places, and conversation ids with a place and whether that one record is the
    whole conversation."""

    ids: dict[str, str] = field(default_factory=dict)
    conversations: dict[str, tuple[str, bool]] = field(default_factory=dict)

    def take(self, prompts: Sequence[Prompt], *, whole: bool) -> None:
        """Raise `BadRecordError`, with nothing taken, where a prompt or a conversation has the name of another."""
        for prompt in prompts:
            if other := self.ids.get(prompt.id):
                raise BadRecordError(prompt.place, f'repeats the id "{prompt.id}" of `{other}`', "ids must be unique")
        name, place = prompts[0].conversation_id, prompts[0].place
        if name is not None:
            other, is_whole = self.conversations.setdefault(name, (place, whole))
            if other != place and (whole or is_whole):
                hint = "one of the two records holds all turns of its conversation: rename the other"
                raise BadRecordError(place, f'repeats the conversation "{name}" of `{other}`', hint)
        self.ids.update((prompt.id, prompt.place) for prompt in prompts)


def prompts_of(
    record: Mapping[str, Any], place: str, entry: Entry, task: str, found: Container[str]
) -> tuple[Prompt, ...]:
    """One prompt, or a conversation's: `ID/0`, `ID/1`, …, each with the turn it follows where the data holds no answer
    to that. A record without an id gets its content's, with `-2`, `-3`, … for repeats of what is in `found`."""
    output_tokens = fields.output_tokens(record, place)
    shared: dict[str, Any] = {
        "task": task,
        "output_tokens": entry.output_tokens if output_tokens is None else output_tokens,
        "labels": fields.labels(record, place),
        "place": place,
    }
    id = fields.name(record, "id", place) or entry.id
    if entry.turns:
        return _turns(entry, id or _hashed(entry, task, "/0", found), shared)
    (content,) = entry.contents
    return (
        Prompt(
            id=id or _hashed(entry, task, "", found),
            text=content.text,
            messages=content.messages,
            conversation_id=fields.name(record, "conversation_id", place),
            turn=fields.whole(record, "turn", place, least=0),
            **shared,
        ),
    )


def _turns(entry: Entry, id: str, shared: Mapping[str, Any]) -> tuple[Prompt, ...]:
    return tuple(
        Prompt(
            id=f"{id}/{turn}",
            messages=content.messages,
            conversation_id=id,
            turn=turn,
            follows=f"{id}/{turn - 1}" if turn and not entry.history else None,
            **shared,
        )
        for turn, content in enumerate(entry.contents)
    )


def _hashed(entry: Entry, task: str, ending: str, found: Container[str]) -> str:
    last = entry.contents[-1]
    said: Any = [last.text, last.messages] if entry.history else [[content.messages for content in entry.contents]]
    stem = id = hashlib.sha256(json.dumps([task, *said], ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:12]
    repeat = 1
    while f"{id}{ending}" in found:
        repeat += 1
        id = f"{stem}-{repeat}"
    return id
