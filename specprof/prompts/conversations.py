"""Layouts whose record is a conversation: Spec-Bench (user turns without answers) and ShareGPT (both sides)."""

from collections.abc import Iterator, Mapping
from typing import Any

from specprof.errors import BadRecordError, did_you_mean
from specprof.prompts import fields
from specprof.prompts.content import Content, Entry, user
from specprof.prompts.lines import shown

SPEAKERS: Mapping[str, str] = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "assistant": "assistant",
    "system": "system",
}
# What the published SPEED-Bench holds where a licence keeps the text out (over half of its rows).
PLACEHOLDER = "FULL BENCHMARK DATA SHOULD BE FETCHED FROM THE SOURCE"


def read_turns(record: Mapping[str, Any], place: str) -> Entry:
    """Spec-Bench, MT-bench, SPEED-Bench: what the user says, turn by turn; the answers are the model's."""
    turns = record["turns"]
    if not isinstance(turns, list) or not turns:
        raise BadRecordError(place, f'has "turns" that are not a list of texts: {shown(turns)}')
    for index, turn in enumerate(turns):
        _check_turn(turn, index, place)
    return Entry(
        tuple(Content(messages=(user(turn),)) for turn in turns),
        turns=True,
        history=False,
        id=fields.name(record, "question_id", place),
        task=fields.text(record, "category", place),
    )


def _check_turn(turn: object, index: int, place: str) -> None:
    if not isinstance(turn, str) or not turn.strip():
        raise BadRecordError(place, f"has turn {index} that is no text: {shown(turn)}")
    if turn.startswith(PLACEHOLDER):
        hint = "fill the data set in with its own preparation script, or leave such rows out with `--skip-bad`"
        raise BadRecordError(place, f"has a placeholder in turn {index}: {shown(turn)}", hint)


def read_sharegpt(record: Mapping[str, Any], place: str) -> Entry:
    """ShareGPT: every turn of the human is a prompt, with all that was said before it.

    What an assistant says before the first human turn is left out: it answers nothing that the data holds.
    """
    said = record["conversations"]
    if not isinstance(said, list):
        raise BadRecordError(place, f'has "conversations" that are not a list: {shown(said)}')
    messages = [_message(item, index, place) for index, item in enumerate(said)]
    contents = tuple(_prompts(messages))
    if not contents:
        raise BadRecordError(place, 'has "conversations" in which no human speaks')
    return Entry(contents, turns=True)


def _message(item: object, index: int, place: str) -> Mapping[str, Any]:
    if not isinstance(item, dict):
        raise BadRecordError(place, f"has turn {index} that is not an object: {shown(item)}")
    for key in ("from", "value"):
        if not isinstance(item.get(key), str):
            problem = f'has turn {index} whose "{key}" is not text: {shown(item.get(key))}'
            raise BadRecordError(place, problem, 'a turn looks like {"from": "human", "value": "…"}')
    if item["from"] not in SPEAKERS:
        hint = did_you_mean(item["from"], SPEAKERS, f"known speakers: {', '.join(SPEAKERS)}")
        raise BadRecordError(place, f"has turn {index} from {shown(item['from'])}", hint)
    role = SPEAKERS[item["from"]]
    if role == "user" and not item["value"].strip():
        raise BadRecordError(place, f"has turn {index} in which the human says nothing")
    return {"role": role, "content": item["value"]}


def _prompts(messages: list[Mapping[str, Any]]) -> Iterator[Content]:
    so_far: list[Mapping[str, Any]] = []
    for message in messages:
        if message["role"] == "assistant" and all(earlier["role"] == "system" for earlier in so_far):
            continue
        so_far.append(message)
        if message["role"] == "user":
            yield Content(messages=tuple(so_far))
