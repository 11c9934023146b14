"""The loop of a run: jobs go out in the order of the queue, requests come back and are recorded at once."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any

from specprof.capture import promises
from specprof.capture.plan import Planned
from specprof.capture.queue import Queue
from specprof.capture.recorder import Recorder
from specprof.capture.settings import Spec
from specprof.capture.turns import LOST, Turns
from specprof.capture.until import Goal
from specprof.engines.base import Engine, SeesTraps
from specprof.errors import EnvironmentError_, SpecprofError
from specprof.records import Request
from specprof.spool import SpoolWriter
from specprof.store.run import RunDir, read_info
from specprof.store.seal import seal

SEAL_EVERY = 2048  # requests, so that a long run keeps its spool short

OnRequest = Callable[[Request, int, int], None]
"""(request, done, of how many): jobs, but with `until` clusters."""


def drive(
    engine: Engine, spec: Spec, run: RunDir, writer: str, done: Sequence[Request], on_request: OnRequest | None
) -> None:
    """Run every job that is neither in `done` nor needless. What is recorded outlives whatever ends it."""
    seal(run.path)  # what a killed process left
    with SpoolWriter(run.path / "spool", writer) as spool:
        loop = _Loop(engine, spec, run, Recorder(spool, writer, spec.config.save_text), done, on_request)
        try:
            loop.note()
            loop.go()
        except BaseException:
            with suppress(SpecprofError):  # the first error tells more
                loop.note()
            raise
        loop.note()
    seal(run.path)


class _Loop:
    def __init__(
        self,
        engine: Engine,
        spec: Spec,
        run: RunDir,
        recorder: Recorder,
        done: Sequence[Request],
        on_request: OnRequest | None,
    ) -> None:
        self._engine, self._spec, self._run, self._recorder, self._on_request = engine, spec, run, recorder, on_request
        self._turns = Turns(spec.prompts_by_id())
        self._recorder.answers = self._turns.followed
        self._goal = _goal(engine, spec, self._turns)
        self._queue = Queue(spec.jobs, self._turns, self._goal, done)
        self._flags: dict[str, list[str]] = {}
        self._ended = self._measured = 0

    def go(self) -> None:
        """Warm-up, then the jobs. An engine is called again where all its jobs had to end before others could begin."""
        first = self._next()
        if first and (warmup := list(self._warmup())):
            self._run_jobs(warmup, "warmup")
        while first:
            self._run_jobs(chain([first], iter(self._next, None)), "measure")
            first = self._next()

    def note(self) -> None:
        """What run.json says of a run that goes on: clusters so far, flags of its arms."""
        changes: dict[str, Any] = {}
        if self._goal:
            changes["until"] = self._goal.outcome()
        if flags := self._flags_now():
            self._flags = flags
            changes["arm_flags"] = _merged(read_info(self._run.path).get("arm_flags", {}), flags)
        if changes:
            self._run.update(**changes)

    def _run_jobs(self, jobs: Iterable[Planned], phase: str) -> None:
        begun = self._recorder.begun
        for returned in self._engine.generate(self._recorder.jobs((job, phase) for job in jobs)):
            self._end(self._recorder.end(returned))
        if self._recorder.begun == begun or self._recorder.open:
            lost = next(iter(self._recorder.open), "of the first job")
            hint = "it must pull jobs, and yield one request for each, before it returns"
            raise EnvironmentError_(f"the engine ended without request `{lost}`", hint)

    def _next(self) -> Planned | None:
        while job := self._queue.next():
            if not self._turns.lost(job.prompt, job.sample):
                return replace(job, prompt=self._turns.with_history(job.prompt, job.sample))
            self._end(self._recorder.skip(job, LOST))
        return None

    def _end(self, request: Request) -> None:
        if request.phase == "measure":
            self._queue.ended(request)
            self._measured += 1
        if self._on_request:
            self._on_request(request, *self._progress())
        self._ended += 1
        if self._ended % SEAL_EVERY == 0:
            self._recorder.spool.roll()
            seal(self._run.path, self._recorder.writer)
        if self._ended % SEAL_EVERY == 0 or self._flags_now() != self._flags:
            self.note()

    def _flags_now(self) -> dict[str, list[str]]:
        return _merged({}, self._engine.traps()) if isinstance(self._engine, SeesTraps) else {}

    def _progress(self) -> tuple[int, int]:
        if self._goal:
            return self._goal.progress()
        jobs = len(self._spec.jobs)
        return jobs - len(self._queue.missing) + self._measured, jobs

    def _warmup(self) -> Iterator[Planned]:
        """Each arm on the first prompts to come that need no answer before them."""
        left = {arm.id: self._spec.warmup for arm in self._spec.config.arms}
        for job in chain(self._queue.missing, self._spec.jobs):
            if job.prompt.follows is None and left[job.arm.id]:
                left[job.arm.id] -= 1
                yield job


def _goal(engine: Engine, spec: Spec, turns: Turns) -> Goal | None:
    if spec.until is None:
        return None
    return Goal(spec.until, (arm.id for arm in spec.config.arms), turns.prompts.values(), promises.counter(engine))


def _merged(one: Mapping[str, Sequence[str]], other: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    both = {arm: sorted({*one.get(arm, ()), *other.get(arm, ())}) for arm in sorted({*one, *other})}
    return {arm: flags for arm, flags in both.items() if flags}
