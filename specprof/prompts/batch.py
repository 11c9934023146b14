"""OpenAI batch files: `custom_id`, `method`, `url` and the `body` of a request to one of three endpoints."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from specprof.errors import BadRecordError, did_you_mean
from specprof.prompts import fields
from specprof.prompts.content import Content, Entry, chat, raw, user
from specprof.prompts.lines import shown

ENDPOINTS = ("/v1/chat/completions", "/v1/completions", "/v1/responses")
_PROMPT_KEYS = ("messages", "prompt", "input")
_LENGTH_KEYS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
# What says nothing about how an answer is sampled or shaped.
_HARMLESS = ("model", "instructions", "stream", "stream_options", "user", "metadata", "store", "service_tier")


def is_batch(record: Mapping[str, Any]) -> bool:
    return "body" in record and ("custom_id" in record or "url" in record)


def read(record: Mapping[str, Any], place: str) -> Entry:
    body = record["body"]
    if not isinstance(body, dict):
        raise BadRecordError(place, f'has a "body" that is not an object: {shown(body)}')
    _check_endpoint(record.get("url"), place)
    known = (*_PROMPT_KEYS, *_LENGTH_KEYS, *_HARMLESS)
    return Entry(
        (_content(body, place),),
        id=fields.name(record, "custom_id", place),
        output_tokens=_output_tokens(body, place),
        not_obeyed=tuple(key for key, value in body.items() if key not in known and value is not None),
    )


def _check_endpoint(url: object, place: str) -> None:
    if url is not None and not (isinstance(url, str) and url.rstrip("/").endswith(ENDPOINTS)):
        raise BadRecordError(place, f"is a request to {shown(url)}", f"read are requests to {', '.join(ENDPOINTS)}")


def _content(body: Mapping[str, Any], place: str) -> Content:
    keys = [key for key in _PROMPT_KEYS if body.get(key) is not None]
    if len(keys) != 1:
        found = f'has both "{keys[0]}" and "{keys[1]}"' if keys else 'has neither "messages", "prompt" nor "input"'
        near = next((f"`{key}`: {hint}" for key in body if (hint := did_you_mean(key, _PROMPT_KEYS))), None)
        raise BadRecordError(place, f"{found} in its body", near or "a body holds one of the three")
    (key,) = keys
    if key == "prompt":
        return raw(body[key], key, place)
    if key == "input" and isinstance(body[key], str):
        content = Content(messages=(user(raw(body[key], key, place).text or ""),))
    else:
        content = chat(body[key], key, place)
    return replace(content, messages=(*_instructions(body, place), *(content.messages or ())))


def _instructions(body: Mapping[str, Any], place: str) -> tuple[Mapping[str, Any], ...]:
    """The system message of the responses endpoint."""
    if body.get("instructions") is None:
        return ()
    return ({"role": "system", "content": raw(body["instructions"], "instructions", place).text},)


def _output_tokens(body: Mapping[str, Any], place: str) -> int | None:
    limits = [fields.output_tokens(body, place, key) for key in _LENGTH_KEYS]
    return next((limit for limit in limits if limit is not None), None)
