"""The one boundary with many implementations: what specprof asks of an inference engine."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol, Self, runtime_checkable

from specprof.records import Arm, Capabilities, CostSample, EngineConfig, Finding, Job, Prompt, Request


@runtime_checkable
class Engine(Protocol):
    """Life cycle: `engine.check(config)`, `with engine:`, `engine.generate(jobs)` as often as wanted, `describe()`."""

    capabilities: Capabilities

    def check(self, config: EngineConfig) -> None:
        """Take the configuration or raise `UsageError` / `EnvironmentError_`, before anything heavy is loaded."""

    def __enter__(self) -> Self:
        """Load models."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Free models; after it the engine may be entered again."""

    def describe(self) -> dict[str, Any]:
        """What `run.json` records: `engine`, `engine_version`, `target`, `draft`, `device`, `dtype`, `threads`,
        `chat_template_sha256`, weight hashes or revisions, … (JSON-ready; call it inside the `with` block)."""

    def generate(self, jobs: Iterable[Job]) -> Iterator[Request]:
        """Run the jobs and yield each one's request as it ends. Pull the next job only when there is room for it
        (batch 1: one at a time): the caller decides the order and records when a job was pulled. Call
        `job.on_round` per verified round where rounds are seen live; the request holds all rounds either way."""


@runtime_checkable
class ChecksPrompts(Protocol):
    """What an engine may offer beside: a look at the prompts between `check` and `with`, before weights load."""

    def check_prompts(self, prompts: Iterable[Prompt]) -> None:
        """Raise `UsageError` for the first prompt that the model cannot take (a chat without a template, …)."""


def check_prompts(engine: Engine, prompts: Iterable[Prompt]) -> None:
    """`ChecksPrompts` in the order of the prompts' places, so that every command names the same one first."""
    if isinstance(engine, ChecksPrompts):
        engine.check_prompts(sorted(prompts, key=_place))


def _place(prompt: Prompt) -> list[str | int]:
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", prompt.place)]


@runtime_checkable
class CountsTokens(Protocol):
    """Optional: how long a prompt is before it runs; call it between `check` and `with`, or inside."""

    def count_tokens(self, prompt: Prompt) -> int:
        """Prompt tokens as the request will report them."""


@runtime_checkable
class Calibrates(Protocol):
    """Optional: what the parts of a round cost on this machine; call it inside the `with` block."""

    def calibrate(
        self, arms: Sequence[Arm], contexts: Sequence[int], repeats: int, prompts: Sequence[Prompt]
    ) -> Iterator[CostSample]:
        """Time plain steps, rounds of several widths and the arms' drafters at each number of cached tokens, all
        kinds interleaved within a repeat. The text comes from `prompts`, repeated or cut to length; arms with the
        same `records.drafter` are timed once, under the first one's id. A context that does not fit is an error."""


@runtime_checkable
class Scores(Protocol):
    """Optional: what the target alone thinks of an answer; call it inside the `with` block."""

    def score(self, prompt: Prompt, output_ids: Sequence[int]) -> Any:
        """Log-probabilities of the target at temperature 1 for every place of the answer and the one after it: a
        float32 array of shape (len(output_ids) + 1, vocabulary)."""


@runtime_checkable
class SeesTraps(Protocol):
    """Optional: faults that make an arm's acceptance misleading, seen in its configuration or while it ran."""

    def traps(self) -> Mapping[str, Sequence[str]]:
        """Flags of `records.FLAGS` by arm id, so far."""


@runtime_checkable
class Diagnoses(Protocol):
    """Optional: what a run would meet on this machine, found before any weights load and without `check`."""

    def diagnose(self, config: EngineConfig, texts: Sequence[str]) -> Iterator[Finding]:
        """Versions, device, models, tokenizers, memory, threads. `texts` are tried on the tokenizers. Raises
        `UsageError` where the configuration itself cannot be; everything else that is wrong is a finding."""
