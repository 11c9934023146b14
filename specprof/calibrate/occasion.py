"""One occasion: every repeat of every sample, next to when it was and how busy the machine was."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from specprof.calibrate.contexts import contexts_for
from specprof.calibrate.sound import sound
from specprof.capture.machine import load_1m
from specprof.engines.base import Calibrates, Engine
from specprof.errors import EnvironmentError_
from specprof.records import Arm, CostSample, EngineConfig, Prompt
from specprof.store.run import RunDir, read_info

REPEATS = 9  # the 95 % interval of a median needs 6
REPEATS_IN_RUN = 7  # before and again after

log = logging.getLogger("specprof")


def begin(when: str) -> dict[str, Any]:
    return {"when": when, "at": datetime.now(UTC).isoformat(timespec="seconds"), "load_1m": load_1m(), "samples": []}


def take(
    occasion: dict[str, Any],
    engine: Calibrates,
    arms: Sequence[Arm],
    contexts: Sequence[int],
    prompts: Sequence[Prompt],
    repeats: int = REPEATS,
) -> dict[str, Any]:
    """Fill `occasion` sample by sample: what ends it early leaves those it had. Raises `EnvironmentError_` for what is
    no time of one of `arms`."""
    ids = {arm.id for arm in arms}
    samples: Iterable[object] = engine.calibrate(arms, contexts, repeats, prompts)
    for sample in samples:
        if not isinstance(sample, CostSample) or not sound(asdict(sample), ids):
            raise EnvironmentError_(f"the engine's `calibrate` gives no sound sample: {sample!r:.80}")
        occasion["samples"].append(asdict(sample))
    return occasion


def measure(run: RunDir, engine: Engine, config: EngineConfig, prompts: Sequence[Prompt], when: str) -> None:
    """Measure costs inside a run and keep them in its `run.json`. A failure is a warning: the run is worth more."""
    arms = [arm for arm in config.arms if arm.method != "none"]
    if not arms or not prompts:
        return
    if not isinstance(engine, Calibrates):
        log.info("costs are not measured: this engine cannot")
        return
    log.info("measuring costs")
    occasion = begin(when)
    try:
        info = read_info(run.path)
        take(occasion, engine, arms, contexts_for(engine, prompts, config, info), prompts, REPEATS_IN_RUN)
    except Exception as error:  # an engine may fail in any way
        occasion["error"] = str(error)
        log.warning("costs were not measured %s the run: %s", "after" if when == "after" else "before", error)
    finally:
        keep(run, [occasion])


def keep(run: RunDir, occasions: Sequence[Mapping[str, Any]]) -> None:
    """Add occasions to the run's own. Those of a file take the place of those of an earlier one."""
    before = read_info(run.path).get("calibration", [])
    if any(occasion["when"] == "file" for occasion in occasions):
        before = [occasion for occasion in before if occasion["when"] != "file"]
    run.update(calibration=[*before, *occasions])
