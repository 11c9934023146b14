"""What a run was asked to be, and the refusal to go on with another one."""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specprof import __version__
from specprof.calibrate import CostFile, read_costs, refuse_early
from specprof.capture.machine import describe_machine
from specprof.capture.plan import Planned
from specprof.errors import UsageError
from specprof.records import EngineConfig, Prompt

SPEED_ONLY = ("machine", "threads", "gpu")  # these change times, but not what is measured
log = logging.getLogger("specprof")


@dataclass(frozen=True)
class Spec:
    """What a run measures. `jobs` is the whole plan; `until` ends it as soon as every task × prompt bucket has that
    many clusters in every arm. `prompts` is the summary for run.json; its `sha256` tells prompt sets apart. Costs are
    measured before and after with `calibrate`, or come from the file `costs`."""

    engine_name: str
    config: EngineConfig
    jobs: Sequence[Planned]
    prompts: Mapping[str, Any]
    repeats: int = 1
    warmup: int = 1
    command: Sequence[str] = ()
    until: int | None = None
    calibrate: bool = False
    costs: Path | None = None

    def prompts_by_id(self) -> dict[str, Prompt]:
        return {job.prompt.id: job.prompt for job in self.jobs}

    def cost_file(self) -> CostFile | None:
        """What `costs` names. Raises `UsageError` for one that cannot be this run's, whatever the weights."""
        if self.costs is None:
            return None
        found = read_costs(self.costs)
        refuse_early(found, self.engine_name, {arm.id: arm.to_dict() for arm in self.config.arms})
        return found

    def settings(self, costs: CostFile | None) -> dict[str, Any]:
        """What must not change when a run is resumed, known before a model is loaded. `costs` is `cost_file()`."""
        if self.until is not None and self.until < 1:
            raise UsageError(f"`--until-n {self.until}`", "ask for at least 1")
        config = self.config
        return {
            "arms": {arm.id: arm.to_dict() for arm in config.arms},
            "prompts": dict(self.prompts),
            "repeats": self.repeats,
            "until_n": self.until,
            "warmup": self.warmup,
            "seed": config.seed,
            "max_new_tokens": config.max_tokens,
            "fixed_length": config.fixed_length,
            "token_detail": config.token_detail,
            "save_text": config.save_text,
            "costs": f"file {costs.sha256}" if costs else "measured" if self.calibrate else "not measured",
            "engine_name": self.engine_name,
            "engine_options": dict(config.options),
            "specprof_version": __version__,
            "machine": describe_machine(),
        }


def refuse_differences(earlier: Mapping[str, Any], now: Mapping[str, Any], folder: Path) -> None:
    """Raise `UsageError` that names every setting of the run in `folder` that is another now."""
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
