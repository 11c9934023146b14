"""The one boundary with many implementations: what specprof asks of an inference engine."""

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Protocol, Self, runtime_checkable

from specprof.records import Capabilities, EngineConfig, Job, Prompt, Request


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
