"""Prompt sources → a `PromptSet`, the same for the same content wherever the files lie."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specprof.errors import BadRecordError, UsageError
from specprof.prompts import fields
from specprof.prompts.clusters import one_per_content
from specprof.prompts.content import Entry
from specprof.prompts.formats import records
from specprof.prompts.identity import Names, prompts_of
from specprof.prompts.layouts import find, recognise
from specprof.prompts.prompt_set import PromptSet
from specprof.prompts.sources import files, name_of, stem_of
from specprof.records import Prompt

TaskRule = tuple[re.Pattern[str], str]
"""(pattern searched in the text, task)."""


@dataclass(frozen=True, slots=True)
class _Found:
    prompt: Prompt
    layout: str
    not_obeyed: tuple[str, ...]
    answered: bool


@dataclass(frozen=True, slots=True)
class _Asked:
    """How records are to be read."""

    task: str | None
    rules: Sequence[TaskRule]
    field: str | None
    task_field: str | None


def read_prompts(
    sources: Sequence[str | Path],
    *,
    task: str | None = None,
    rules: Sequence[TaskRule] = (),
    skip_bad: bool = False,
    limit: int | None = None,
    field: str | None = None,
    task_field: str | None = None,
) -> PromptSet:
    """Read files, folders and `-` (standard input). `limit` is per task, in order, and counts a conversation once, so
    that none is torn apart. `field` and `task_field` name the text and the task of records in no known layout.

    Task of a record: its own, else `task`, else the first rule that matches its (first) prompt, else the file's name.
    """
    for name in (task, *(task for _, task in rules)):
        if name is not None and not (name.strip() and name.isprintable()):
            raise UsageError(f"a task cannot be called {name!r}", "name it with one line of text that is not empty")
    asked = _Asked(task, rules, field, task_field)
    found: list[_Found] = []
    names = Names()
    skipped: list[str] = []
    for file in files(sources):
        with _tolerating(skipped, skip_bad):
            for place, record in records(file):
                with _tolerating(skipped, skip_bad):
                    found += _read(record, place, asked, stem_of(file), names)
    if not found:
        raise UsageError(f"no usable record in {_named(sources)}: {skipped[0]}" if skipped else "no prompts given")
    kept = list(_limited(found, limit))
    not_obeyed = Counter(name for item in kept for name in item.not_obeyed)
    layouts = Counter(item.layout for item in kept)
    prompts = one_per_content(item.prompt for item in kept)
    return PromptSet(prompts, tuple(skipped), layouts, not_obeyed, sum(item.answered for item in kept))


@contextmanager
def _tolerating(skipped: list[str], skip_bad: bool) -> Iterator[None]:
    try:
        yield
    except BadRecordError as error:
        if not skip_bad:
            raise
        skipped.append(str(error))


def _named(sources: Sequence[str | Path]) -> str:
    return ", ".join(f"`{name_of(source)}`" for source in sources)


def _read(record: dict[str, Any] | BadRecordError, place: str, asked: _Asked, stem: str, names: Names) -> list[_Found]:
    """The prompts of one record; those of a conversation all or none."""
    if isinstance(record, BadRecordError):
        raise record
    layout, entry = recognise(record, place, asked.field)
    if asked.field is not None and not isinstance(record.get("labels"), dict):
        record = record | {"labels": None}  # in an export they are often classes
    task = _task(record, place, entry, asked) or stem
    prompts = prompts_of(record, place, entry, task, names.ids)
    names.take(prompts, whole=entry.turns)
    answered = any(content.answered for content in entry.contents)
    return [_Found(prompt, layout, entry.not_obeyed, answered) for prompt in prompts]


def _task(record: Mapping[str, Any], place: str, entry: Entry, asked: _Asked) -> str | None:
    if (key := asked.task_field) is not None:
        if (named := fields.name({key: find(record, key, place)}, key, place)) is None:
            raise BadRecordError(
                place, f'has "{key}" null', "leave `--task-field` out, or skip such rows: `--skip-bad`"
            )
        return named
    return fields.text(record, "task", place) or entry.task or asked.task or _by_rule(entry, asked.rules)


def _by_rule(entry: Entry, rules: Sequence[TaskRule]) -> str | None:
    return next((task for pattern, task in rules if pattern.search(entry.contents[0].searchable)), None)


def _limited(found: Iterable[_Found], limit: int | None) -> Iterator[_Found]:
    kept: dict[str, set[tuple[bool, str]]] = {}
    for item in found:
        clusters = kept.setdefault(item.prompt.task, set())
        if limit is None or len(clusters) < limit:
            clusters.add(item.prompt.cluster)
        if item.prompt.cluster in clusters:
            yield item
