"""Conversations whose data holds no answers: what the baseline said stands between two turns, for every arm."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from specprof.errors import EnvironmentError_, UsageError
from specprof.records import BASELINE, Arm, Prompt, Request

UNANSWERED = ("skipped", "error", "abort")
LOST = "previous turn without answer"

Message = Mapping[str, Any]


def chain(prompt: Prompt, prompts: Mapping[str, Prompt]) -> list[Prompt]:
    """The turns of a conversation from its first one to `prompt`. Raises `UsageError` for one that has no beginning."""
    turns = [prompt]
    while (before := turns[0].follows) is not None:
        if before not in prompts or prompts[before] in turns:
            raise UsageError(
                f"prompt `{prompt.id}`{_place(prompt)} has no first turn: `{before}` is not there or follows itself",
                "give whole conversations",
            )
        turns.insert(0, prompts[before])
    return turns


def check_turns(prompts: Mapping[str, Prompt], arms: Sequence[Arm]) -> None:
    """Raise `UsageError` where a turn can have no history."""
    for prompt in prompts.values():
        if prompt.follows is None:
            continue
        if BASELINE not in {arm.id for arm in arms}:
            raise UsageError(
                f"prompt `{prompt.id}`{_place(prompt)} follows an answer that the data does not hold: the baseline's",
                "add `--baseline`",
            )
        if any(turn.messages is None for turn in chain(prompt, prompts)):
            raise UsageError(f"prompt `{prompt.id}`{_place(prompt)} follows raw text", "give every turn as messages")


@dataclass
class Turns:
    """The answers that later turns need; None for one that will never come."""

    prompts: Mapping[str, Prompt]
    answers: dict[tuple[str, int], str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.followed: Collection[str] = {p.follows for p in self.prompts.values() if p.follows is not None}

    def keep(self, request: Request) -> bool:
        """Take note of an answer; whether a turn may follow it."""
        if request.arm != BASELINE or request.phase != "measure" or request.prompt_id not in self.followed:
            return False
        answer = None if request.finish_reason in UNANSWERED else request.output_text
        if answer is None and request.finish_reason not in UNANSWERED:
            raise EnvironmentError_(
                f"there is no text of the baseline's answer to `{request.prompt_id}`, which the next turn needs",
                "give whole conversations with their answers, or an engine that returns `output_text`",
            )
        self.answers[request.prompt_id, request.sample] = answer
        return True

    def waits(self, prompt: Prompt, sample: int) -> bool:
        return prompt.follows is not None and (prompt.follows, sample) not in self.answers

    def lost(self, prompt: Prompt, sample: int) -> bool:
        return prompt.follows is not None and self.answers[prompt.follows, sample] is None

    def with_history(self, prompt: Prompt, sample: int) -> Prompt:
        """The prompt as it is sent: all that was said before it, then its own messages."""
        if prompt.follows is None:
            return prompt
        *before, _ = chain(prompt, self.prompts)
        said = (message for turn in before for message in self._said(turn, sample))
        return replace(prompt, messages=(*said, *(prompt.messages or ())))

    def _said(self, turn: Prompt, sample: int) -> Iterable[Message]:
        yield from turn.messages or ()
        yield {"role": "assistant", "content": self.answers[turn.id, sample]}


def _place(prompt: Prompt) -> str:
    return f" of `{prompt.place}`" if prompt.place else ""
