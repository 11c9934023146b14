"""Greedy answers that a run recorded, compared without a model."""

from pathlib import Path
from typing import Any

from specprof.errors import UsageError
from specprof.lossless.answers import Answers
from specprof.lossless.judge import RESOLUTION
from specprof.lossless.result import Result
from specprof.lossless.verify import greedy_result
from specprof.records import BASELINE, Arm, Request, Round
from specprof.store.read import read_run

COUNTS = ("proposed", "drafted", "accepted", "emitted")
IDENTITY = ("request_id", "prompt_id", "arm", "task", "prompt_tokens", "response_tokens", "complete", "finish_reason")
COLUMNS = (*IDENTITY, "phase", "sample", "output_ids", "output_sha256", *COUNTS)


def compare_recorded(path: Path, *, resolution: float = RESOLUTION, skip_bad: bool = False) -> Result:
    """Where answers part is known with `--save-text`, and that they part without; why they do needs the model.

    Raises `UsageError` for a run without a baseline or with a temperature, and for one whose answers left no trace.
    """
    run = read_run(path, skip_bad=skip_bad, columns=COLUMNS)
    arms = {name: Arm(id=name, **settings) for name, settings in run.info["arms"].items()}
    if BASELINE not in arms or len(arms) < 2:
        raise UsageError(f"`{path}` has nothing to compare", "record a run with `--baseline`")
    if any(arm.temperature for arm in arms.values()):
        raise UsageError(f"`{path}` was sampled: its answers differ by chance", "verify with the model and `--repeat`")
    answers = {name: Answers() for name in arms}
    for row in run.table.to_pylist():
        if row["phase"] == "measure":
            answers[row["arm"]].add(_request(row, path))
    results = [greedy_result(arm, answers, None, "", resolution) for arm in arms.values() if arm.id != BASELINE]
    prompts = len(answers[BASELINE].requests)
    described = {**run.info, "state": run.state}
    return Result(described, prompts, 1, run.info.get("max_new_tokens"), 0.0, resolution, results)


def _request(row: dict[str, Any], path: Path) -> Request:
    if row["output_ids"] is None and row["output_sha256"] is None and row["finish_reason"] != "skipped":
        raise UsageError(f"`{path}` holds neither answers nor their hashes", "record it with `--save-text`")
    rounds = zip(*(row[name] or () for name in COUNTS), strict=True)
    ids = row["output_ids"]
    return Request(
        **{name: row[name] for name in IDENTITY},
        rounds=tuple(Round(*counts) for counts in rounds),
        output_ids=None if ids is None else tuple(ids),
        output_sha256=row["output_sha256"],
    )
