"""One run of an engine, from the refusal of a wrong one to its last shard. A crash loses no verified round."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from specprof.calibrate import adopt, keep, measure
from specprof.capture import promises
from specprof.capture.done import read_done
from specprof.capture.drive import OnRequest, drive
from specprof.capture.settings import SPEED_ONLY, Spec, refuse_differences
from specprof.engines.base import Engine, check_prompts
from specprof.errors import EnvironmentError_
from specprof.store.run import create, effective_state, read_info, refuse_used, resumable, resume

__all__ = ["OnRequest", "Spec", "execute"]

ANSWERS_KEPT = "answers of the baseline that later turns follow are stored, whatever `--save-text` says"


def execute(
    engine: Engine,
    spec: Spec,
    folder: Path,
    *,
    go_on: bool = False,
    skip_bad: bool = False,
    on_request: OnRequest | None = None,
) -> dict[str, Any]:
    """Run every job of `spec` into the run directory `folder`; with `go_on`, those that a run there still lacks (with
    `skip_bad` also those whose record is damaged). A complete run is left as it is. Returns its run.json.

    Raises `UsageError` where `folder` holds a run already or, with `go_on`, another run than the one asked for.
    """
    costs = spec.cost_file()
    settings = spec.settings(costs)
    earlier = read_info(folder) if go_on else None
    if earlier is None:
        refuse_used(folder)  # now, not after minutes of loading
    else:
        refuse_differences(earlier, settings, folder)
    prompts = list(spec.prompts_by_id().values())
    follows = any(prompt.follows is not None for prompt in prompts)
    engine.check(replace(spec.config, save_text=spec.config.save_text or follows))
    check_prompts(engine, prompts)
    if earlier is not None:
        if effective_state(earlier) == "complete":
            return earlier
        resumable(folder)
    ended = False
    with engine:
        described = {key: value for key, value in promises.described(engine).items() if key not in settings}
        if follows:
            described["notes"] = [*described.get("notes", ()), ANSWERS_KEPT]
        if earlier is not None:
            refuse_differences(earlier, described, folder)
        settings |= described
        adopted = adopt(costs, settings) if costs else []
        run = resume(folder) if go_on else create(folder, _first_info(spec, settings, folder, engine))
        with run:
            parts = [*read_info(folder).get("parts", []), {key: settings.get(key) for key in SPEED_ONLY}]
            run.update(parts=parts)
            done = read_done(folder, skip_bad=skip_bad, text=follows)
            keep(run, adopted)
            if calibrates := spec.calibrate and not costs:
                measure(run, engine, spec.config, prompts, "resume" if go_on else "before")
            writer = f"w{len(parts)}"  # one per process that worked at the run
            drive(engine, spec, run, writer, done, on_request)
            if calibrates:
                measure(run, engine, spec.config, prompts, "after")
        ended = True
    if not ended:
        raise EnvironmentError_(f"engine `{spec.engine_name}` swallowed its failure", "its `__exit__` returns true")
    return read_info(folder)


def _first_info(spec: Spec, settings: Mapping[str, Any], folder: Path, engine: Engine) -> dict[str, Any]:
    capabilities = engine.capabilities
    return {
        **settings,
        "run_id": folder.resolve().name,
        "jobs": len(spec.jobs) if spec.until is None else None,
        "command": list(spec.command),
        "capabilities": {**asdict(capabilities), "unobserved": dict(capabilities.unobserved)},
    }
