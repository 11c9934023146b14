"""From jobs to spool frames: what is pulled begins, each verified round follows at once, what ends is completed."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from specprof.capture import promises
from specprof.capture.machine import load_1m
from specprof.capture.plan import Planned
from specprof.errors import EnvironmentError_
from specprof.records import BASELINE, Job, Request, Round
from specprof.spool import SpoolWriter, fields_of


@dataclass
class _Open:
    key: int
    planned: Planned
    job: Job
    begun: dict[str, Any] = field(default_factory=dict)
    live: list[Round] = field(default_factory=list)


@dataclass
class Recorder:
    """One writer's side of a run. Without `save_text` no text and no ids are written, but for the baseline's answers
    to the prompts `answers`: a resumed run needs those for the turns that follow. `open` holds what is not ended."""

    spool: SpoolWriter
    writer: str
    save_text: bool = False
    answers: Collection[str] = ()
    open: dict[str, _Open] = field(default_factory=dict)
    begun: int = 0

    def jobs(self, planned: Iterable[tuple[Planned, str]]) -> Iterator[Job]:
        """(planned, phase) pairs as jobs, each begun in the spool when the engine asks for it."""
        return (self._begin(item, phase) for item, phase in planned)

    def skip(self, item: Planned, reason: str) -> Request:
        """Record a job that no engine will see."""
        return self.end(Request.skipped(self._begin(item, "measure"), reason))

    def end(self, request: Request) -> Request:
        """Complete a request. Raises `EnvironmentError_`, with nothing of it written, where it is not the job's or its
        counts do not add up."""
        opened = self.open.pop(getattr(request, "request_id", ""), None)
        if opened is None:
            raise EnvironmentError_(f"the engine returned {request!r:.80}, which is not open")
        if problem := promises.fault(request, opened.job) or _miscount(request):
            raise _broken(request.request_id, opened.job, problem)
        request = self._placed(self._without_text(request), opened.planned)
        if tuple(opened.live) != request.rounds:  # not seen live, or their times came late
            self.spool.begin(opened.key, opened.begun)
            for step in request.rounds:
                self.spool.round(opened.key, step)
        self.spool.end(opened.key, fields_of(request))
        return request

    def _begin(self, item: Planned, phase: str) -> Job:
        key = self.begun
        self.begun += 1
        job = Job(
            request_id=f"{self.writer}-{key}",
            prompt=item.prompt,
            sample=item.sample,
            arm=item.arm,
            seed=item.seed,
            max_tokens=item.max_tokens,
            phase=phase,
            on_round=lambda step: self._round(opened, step),
        )
        opened = self.open[job.request_id] = _Open(key, item, job)
        opened.begun = fields_of(self._placed(Request.of(job, prompt_tokens=0, response_tokens=0), item))
        self.spool.begin(opened.key, opened.begun)
        return job

    def _without_text(self, request: Request) -> Request:
        if self.save_text:
            return request
        kept = request.arm == BASELINE and request.phase == "measure" and request.prompt_id in self.answers
        answer = request.output_text if kept else None
        return request.with_(prompt_text=None, output_text=answer, prompt_ids=None, output_ids=None)

    def _round(self, opened: _Open, step: Round) -> None:
        if problem := promises.misfit(step):
            raise _broken(opened.job.request_id, opened.job, f"a live round: {problem}")
        self.spool.round(opened.key, step)
        opened.live.append(step)

    def _placed(self, request: Request, item: Planned) -> Request:
        return request.with_(arm_order=item.arm_order, block=item.block, writer=self.writer, load_1m=load_1m())


def _miscount(request: Request) -> str | None:
    problem = request.problem()
    if problem is None and request.unbalanced:
        return (
            f"{request.response_tokens} response tokens, but {request.first_tokens} first tokens and the rounds "
            f"make {request.response_tokens - request.unbalanced}"
        )
    return problem


def _broken(request_id: str, job: Job, problem: str) -> EnvironmentError_:
    return EnvironmentError_(
        f"the engine's request `{request_id}` ({job.arm.id}, `{job.prompt.id}`) cannot be right: {problem}",
        "if the engine is your own, correct it; else its version may have moved the boundary: report it",
    )
