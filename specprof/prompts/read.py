"""Prompt sources → a `PromptSet`, the same for the same content wherever the files lie."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from specprof.errors import BadRecordError, UsageError
from specprof.prompts import fields
from specprof.prompts.layouts import Content, recognise
from specprof.prompts.lines import lines, parse
from specprof.prompts.sources import files, name_of, stem_of
from specprof.records import Prompt

TaskRule = tuple[re.Pattern[str], str]
"""(pattern searched in the text, task)."""


@dataclass(frozen=True, slots=True)
class PromptSet:
    """`skipped` holds a sentence per bad record, `layouts` the prompts per recognised layout."""

    prompts: tuple[Prompt, ...]
    skipped: tuple[str, ...]
    layouts: Mapping[str, int]
    sha256: str

    @property
    def templates(self) -> Mapping[str, int]:
        """How many prompts are sent `raw` and how many through the `chat` template."""
        return Counter(prompt.template for prompt in self.prompts)

    def summary(self) -> dict[str, Any]:
        """What `run.json` records about the prompts, JSON-ready."""
        return {
            "sha256": self.sha256,
            "count": len(self.prompts),
            "layouts": dict(self.layouts),
            "templates": dict(self.templates),
            "skipped": len(self.skipped),
        }


def read_prompts(
    sources: Sequence[str | Path],
    *,
    task: str | None = None,
    rules: Sequence[TaskRule] = (),
    skip_bad: bool = False,
    limit: int | None = None,
) -> PromptSet:
    """Read files, folders (their *.jsonl and *.jsonl.gz) and `-` (standard input); `limit` is per task, in order.

    Task of a record: its own, else `task`, else the first rule that matches, else the file's name.
    """
    found: dict[str, tuple[Prompt, str]] = {}
    skipped: list[str] = []
    for file in files(sources):
        with _tolerating(skipped, skip_bad):
            for place, line in lines(file):
                with _tolerating(skipped, skip_bad):
                    prompt, layout = _prompt(parse(place, line), place, task, rules, stem_of(file))
                    prompt = _identified(prompt, found)
                    found[prompt.id] = prompt, layout
    if not found:
        raise UsageError(f"no usable record in {_named(sources)}: {skipped[0]}" if skipped else "no prompts given")
    kept = list(_limited(found.values(), limit))
    prompts = tuple(prompt for prompt, _ in kept)
    return PromptSet(prompts, tuple(skipped), Counter(layout for _, layout in kept), _sha256(prompts))


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


def _prompt(
    record: Mapping[str, Any], place: str, task: str | None, rules: Sequence[TaskRule], stem: str
) -> tuple[Prompt, str]:
    layout, content = recognise(record, place)
    prompt = Prompt(
        id=fields.name(record, "id", place) or "",
        task=fields.text(record, "task", place) or task or _by_rule(content, rules) or stem,
        text=content.text,
        messages=content.messages,
        output_tokens=fields.output_tokens(record, place),
        labels=fields.labels(record, place),
        conversation_id=fields.name(record, "conversation_id", place),
        turn=fields.whole(record, "turn", place, least=0),
        place=place,
    )
    return prompt, layout


def _by_rule(content: Content, rules: Sequence[TaskRule]) -> str | None:
    return next((task for pattern, task in rules if pattern.search(content.searchable)), None)


def _identified(prompt: Prompt, found: Mapping[str, tuple[Prompt, str]]) -> Prompt:
    """Refuse a repeated id; give a prompt without one its content's, with `-2`, `-3`, … for repeats."""
    if prompt.id in found:
        other = found[prompt.id][0].place
        raise BadRecordError(prompt.place, f'repeats the id "{prompt.id}" of `{other}`', "ids must be unique")
    if prompt.id:
        return prompt
    content = json.dumps([prompt.task, prompt.text, prompt.messages], ensure_ascii=False, sort_keys=True)
    id = stem = hashlib.sha256(content.encode()).hexdigest()[:12]
    repeat = 1
    while id in found:
        repeat += 1
        id = f"{stem}-{repeat}"
    return replace(prompt, id=id)


def _limited(found: Iterable[tuple[Prompt, str]], limit: int | None) -> Iterator[tuple[Prompt, str]]:
    seen: Counter[str] = Counter()
    for prompt, layout in found:
        seen[prompt.task] += 1
        if limit is None or seen[prompt.task] <= limit:
            yield prompt, layout


def _sha256(prompts: Sequence[Prompt]) -> str:
    """Over everything but places, in the order of ids: moved or reordered files give the same hash."""
    rows = sorted(
        (p.id, p.task, p.text, p.messages, p.output_tokens, p.labels, p.conversation_id, p.turn) for p in prompts
    )
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()
