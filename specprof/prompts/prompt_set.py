"""The prompts of a run, and what is said about them."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from specprof.records import Prompt

_BENCHMARKS = ("Spec-Bench", "SPEED-Bench")  # they call their tasks categories


@dataclass(frozen=True, slots=True)
class PromptSet:
    """`skipped` holds a sentence per bad record, `layouts` the prompts per recognised layout, `not_obeyed` the prompts
    per sampling setting that their records ask for: sampling is the run's, the same for every prompt. Behind
    `answered` prompts stood an answer of the assistant, which is left out."""

    prompts: tuple[Prompt, ...]
    skipped: tuple[str, ...]
    layouts: Mapping[str, int]
    not_obeyed: Mapping[str, int] = field(default_factory=dict)
    answered: int = 0

    @property
    def sha256(self) -> str:
        """Over everything but places, in the order of ids: moved or reordered files give the same hash."""
        rows = sorted(
            (p.id, p.task, p.text, p.messages, p.output_tokens, p.labels, p.conversation_id, p.turn, p.follows)
            for p in self.prompts
        )
        return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()

    @property
    def templates(self) -> Mapping[str, int]:
        """How many prompts are sent `raw` and how many through the `chat` template."""
        return Counter(prompt.template for prompt in self.prompts)

    @property
    def conversations(self) -> int:
        """How many clusters there are: conversations, and prompts that belong to none."""
        return len({prompt.cluster for prompt in self.prompts})

    def summary(self) -> dict[str, Any]:
        """What `run.json` records about the prompts, JSON-ready."""
        return {
            "sha256": self.sha256,
            "count": len(self.prompts),
            "conversations": self.conversations,
            "layouts": dict(self.layouts),
            "templates": dict(self.templates),
            "skipped": len(self.skipped),
            "not_obeyed": dict(self.not_obeyed),
            "answers_left_out": self.answered,
        }

    def sentence(self) -> str:
        """`read 480 prompts, Spec-Bench layout, 13 categories`, and what was left out or is not obeyed."""
        parts = [f"read {self._counted()}", self._layouts(), self._tasks()]
        if self.skipped:
            parts.append(f"{len(self.skipped):,} bad records left out")
        if self.answered:
            parts.append(f"the answer at the end of {self.answered:,} left out")
        if self.not_obeyed:
            settings = ", ".join(f"`{name}` of {count:,}" for name, count in self.not_obeyed.items())
            parts.append(f"settings of records not obeyed (sampling is the run's): {settings}")
        return ", ".join(parts)

    def _counted(self) -> str:
        prompts = _number(len(self.prompts), "prompt")
        if self.conversations == len(self.prompts):
            return prompts
        return f"{prompts} of {_number(self.conversations, 'conversation')}"

    def _layouts(self) -> str:
        if len(self.layouts) == 1:
            return f"{next(iter(self.layouts))} layout"
        return " + ".join(f"{count:,} in {name} layout" for name, count in self.layouts.items())

    def _tasks(self) -> str:
        categories = all(name in _BENCHMARKS for name in self.layouts)
        plural = ("category", "categories") if categories else ("task", "tasks")
        return _number(len({prompt.task for prompt in self.prompts}), *plural)


def _number(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
