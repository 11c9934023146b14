"""One run of an engine, from the first warm-up to the last shard. A crash at any point loses no verified round."""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from specprof import __version__
from specprof.capture.machine import describe_machine
from specprof.capture.plan import Planned
from specprof.capture.recorder import Recorder
from specprof.engines.base import ChecksPrompts, Engine
from specprof.errors import EnvironmentError_, UsageError
from specprof.records import EngineConfig, Request
from specprof.spool import SpoolWriter
from specprof.store.read import read_run
from specprof.store.run import RunDir, create, effective_state, read_info, refuse_used, resumable, resume
from specprof.store.seal import seal

SEAL_EVERY = 2048  # requests, so that a long run keeps its spool short

SPEED_ONLY = ("machine", "threads", "gpu")  # these change times, but not what is measured
log = logging.getLogger("specprof")

OnRequest = Callable[[Request, int, int], None]


@dataclass(frozen=True)
class Spec:
    """What a run measures. `prompts` is the summary for run.json; its `sha256` tells prompt sets apart."""

    engine_name: str
    config: EngineConfig
    jobs: Sequence[Planned]
    prompts: Mapping[str, Any]
    samples: int = 1
    warmup: int = 1
    command: Sequence[str] = ()

    def settings(self) -> dict[str, Any]:
        """What must not change when a run is resumed, known before a model is loaded."""
        config = self.config
        return {
            "arms": {arm.id: arm.to_dict() for arm in config.arms},
            "prompts": dict(self.prompts),
            "samples": self.samples,
            "warmup": self.warmup,
            "seed": config.seed,
            "max_new_tokens": config.max_tokens,
            "save_text": config.save_text,
            "engine_name": self.engine_name,
            "engine_options": dict(config.options),
            "specprof_version": __version__,
            "machine": describe_machine(),
        }


def execute(
    engine: Engine,
    spec: Spec,
    folder: Path,
    *,
    go_on: bool = False,
    skip_bad: bool = False,
    on_request: OnRequest | None = None,
) -> None:
    """Run every job of `spec` into the run directory `folder`; with `go_on`, those that a run there still lacks (with
    `skip_bad` also those whose record is damaged). A complete run is left as it is.

    Raises `UsageError` where `folder` holds a run already or, with `go_on`, another run than the one asked for.
    """
    settings = spec.settings()
    earlier = read_info(folder) if go_on else None
    if earlier is None:
        refuse_used(folder)  # now, not after minutes of loading
    else:
        _refuse_differences(earlier, settings, folder)
    engine.check(spec.config)
    if isinstance(engine, ChecksPrompts):
        engine.check_prompts(job.prompt for job in spec.jobs)
    if earlier is not None:
        if effective_state(earlier) == "complete":
            return
        resumable(folder)
    ended = False
    with engine:
        described = {key: value for key, value in engine.describe().items() if key not in settings}
        if earlier is not None:
            _refuse_differences(earlier, described, folder)
        settings |= described
        run = resume(folder) if go_on else create(folder, _first_info(spec, settings, folder, engine))
        with run:
            parts = [*read_info(folder).get("parts", []), {key: settings.get(key) for key in SPEED_ONLY}]
            run.update(parts=parts)
            writer = f"w{len(parts)}"  # one per process that worked at the run
            _measure(engine, spec, run, writer, _done(folder, skip_bad), on_request)
        ended = True
    if not ended:
        raise EnvironmentError_(f"engine `{spec.engine_name}` swallowed its failure", "its `__exit__` returns true")


def _first_info(spec: Spec, settings: Mapping[str, Any], folder: Path, engine: Engine) -> dict[str, Any]:
    capabilities = engine.capabilities
    return {
        **settings,
        "run_id": folder.resolve().name,
        "jobs": len(spec.jobs),
        "command": list(spec.command),
        "capabilities": {**asdict(capabilities), "unobserved": dict(capabilities.unobserved)},
    }


def _refuse_differences(earlier: Mapping[str, Any], now: Mapping[str, Any], folder: Path) -> None:
    now = json.loads(json.dumps(now))  # as run.json holds it: tuples are lists there
    changed = [key for key, value in now.items() if earlier.get(key) != value]
    differences = {key: "; ".join(_differences(key, earlier.get(key), now[key])) for key in changed}
    for key in [key for key in changed if key in SPEED_ONLY]:
        log.warning("%s: the times of the two parts are not of one kind", differences.pop(key))
    if differences:
        hint = "repeat the first command exactly, or start a new run with another `--out`"
        raise UsageError(f"`{folder}` cannot be resumed: {'; '.join(differences.values())}", hint)


def _differences(path: str, was: Any, now: Any) -> Iterator[str]:
    """Every place inside two values where they part."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*was, *now]):
            yield from _differences(f"{path}.{key}", was.get(key), now.get(key)) if was.get(key) != now.get(key) else ()
    elif isinstance(was, dict) or isinstance(now, dict):
        yield f"`{path}` is {'new' if was is None else 'gone'}"
    else:
        yield f"`{path}` was {was}, is {now}"


def _measure(
    engine: Engine, spec: Spec, run: RunDir, writer: str, done: set[tuple[str, int, str]], on_request: OnRequest | None
) -> None:
    seal(run.path)  # what a killed process left
    missing = [job for job in spec.jobs if job.key not in done]
    count = len(spec.jobs) - len(missing)
    with SpoolWriter(run.path / "spool", writer) as spool:
        recorder = Recorder(spool, writer)
        for number, returned in enumerate(engine.generate(recorder.jobs(_phases(spec, missing))), 1):
            request = recorder.end(returned)
            count += request.phase == "measure"
            if on_request:
                on_request(request, count, len(spec.jobs))
            if number % SEAL_EVERY == 0:
                spool.roll()
                seal(run.path, writer)
    seal(run.path)


def _done(path: Path, skip_bad: bool) -> set[tuple[str, int, str]]:
    """(prompt, sample, arm) of every complete measured request."""
    names = ("prompt_id", "sample", "arm", "phase", "complete")
    columns = read_run(path, skip_bad=skip_bad, columns=names).table.to_pydict()
    rows = zip(*(columns[name] for name in names), strict=True)
    return {(prompt, sample, arm) for prompt, sample, arm, phase, complete in rows if complete and phase == "measure"}


def _phases(spec: Spec, jobs: Sequence[Planned]) -> Iterator[tuple[Planned, str]]:
    """Warm-up first, each arm on the first prompts to come; then the jobs themselves."""
    yield from ((job, "warmup") for job in _warmup(spec, jobs))
    yield from ((job, "measure") for job in jobs)


def _warmup(spec: Spec, jobs: Iterable[Planned]) -> Iterator[Planned]:
    left = {arm.id: spec.warmup for arm in spec.config.arms}
    for job in jobs:
        if left[job.arm.id]:
            left[job.arm.id] -= 1
            yield job
