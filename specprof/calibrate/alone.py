"""Costs measured on their own, without a run."""

from collections.abc import Sequence
from typing import Any

from specprof.calibrate.contexts import contexts_for
from specprof.calibrate.file import document
from specprof.calibrate.occasion import REPEATS, begin, take
from specprof.calibrate.sound import problem
from specprof.engines.base import Calibrates, Engine, check_prompts
from specprof.errors import EnvironmentError_, UsageError
from specprof.records import EngineConfig, Prompt


def calibrate(
    engine: Engine,
    config: EngineConfig,
    prompts: Sequence[Prompt],
    contexts: Sequence[int] = (),
    repeats: int = REPEATS,
) -> dict[str, Any]:
    """A document `specprof.costs/1`; without `contexts`, at those that the prompts suggest."""
    if not isinstance(engine, Calibrates):
        raise UsageError("this engine cannot measure its costs", "give them to the report: `--alpha` and `--beta`")
    engine.check(config)
    check_prompts(engine, prompts)
    with engine:
        described = engine.describe()
        at = contexts or contexts_for(engine, prompts, config, described)
        occasion = take(begin("calibrate"), engine, config.arms, at, prompts, repeats)
    measured = document(described, config.arms, [occasion])
    if fault := problem(measured):
        raise EnvironmentError_(f"the calibration {fault}", "another run would refuse such costs: see the engine")
    return measured
