"""Rules on a run: which rows a rule speaks of, and what comes of it there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass, replace
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from specprof.analysis.buckets import LABEL, PROMPT_LABELS, RESPONSE_LABELS, Cell, cells
from specprof.analysis.calibration import Calibration
from specprof.analysis.contract import BucketReport, to_dict
from specprof.analysis.cost import Costs
from specprof.analysis.estimate import Estimate, clusters_to_settle, settled_by
from specprof.analysis.evaluate import ArmData, RunData, arms_of
from specprof.errors import UsageError, did_you_mean
from specprof.gate.rules import Result, Rule
from specprof.records import BASELINE

SCHEMA = "specprof.gate/1"
NOTHING = "the arm has no finished request here: no data never passes"
DAMAGED = "{count} damaged files were left out: restore them, or pass `--allow-partial`"
PARTIAL = "the run is {state}: finish it with `specprof run … --resume`, or pass `--allow-partial`"


@dataclass(frozen=True)
class Outcome:
    """One rule on one row of one arm. `flags` are those of the row; `advice` says what would settle it."""

    rule: str
    arm: str
    selection: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    n: int | None
    op: str
    bound: float
    outcome: Result
    flags: tuple[str, ...]
    advice: str | None


def judge(
    run: RunData, rules: Sequence[Rule], costs: Costs | Calibration | None, *, allow_partial: bool = False
) -> list[Outcome]:
    """The outcomes in the order of the rules. Raises `UsageError` for a selection that matches nothing or an unknown
    metric. A run that is not complete, or not readable as a whole, is inconclusive unless `allow_partial`."""
    arms = {arm.id: arm for arm in arms_of(run, costs)}

    @cache
    def row(arm: str, cell: Cell) -> BucketReport:
        return arms[arm].row(cell)

    outcomes = [_outcome(arm, cell, row(arm, cell), rule) for rule in rules for arm, cell in _rows(arms, rule)]
    if allow_partial or (run.state == "complete" and not run.problems):
        return outcomes
    reason = DAMAGED.format(count=len(run.problems)) if run.problems else PARTIAL.format(state=run.state)
    return [replace(o, outcome="inconclusive", advice=reason) for o in outcomes]


def overall(outcomes: Sequence[Outcome]) -> Result:
    """Any fail fails, else any inconclusive is inconclusive; no outcome at all never passes."""
    results = {outcome.outcome for outcome in outcomes}
    if "fail" in results:
        return "fail"
    return "pass" if results == {"pass"} else "inconclusive"


def gate_document(run: RunData, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The JSON document of `gate --json`."""
    return {
        "schema": SCHEMA,
        "run_id": run.info.get("run_id"),
        "state": run.state,
        "problems": list(run.problems),
        "outcome": overall(outcomes),
        "rules": [asdict(outcome) for outcome in outcomes],
    }


def _rows(arms: Mapping[str, ArmData], rule: Rule) -> list[tuple[str, Cell]]:
    """Every cell of the selection in every arm of it."""
    wanted = rule.where.get("arm")
    if wanted is not None and wanted not in arms:
        hint = did_you_mean(wanted, arms, f"arms: {', '.join(arms)}")
        raise UsageError(f"rule `{rule.text}`: no arm `{wanted}`", hint)
    chosen = [arm for id, arm in arms.items() if (id == wanted if wanted else id != BASELINE)]
    selected = list(dict.fromkeys(cell for arm in chosen for cell in _cells(arm, rule)))
    if not chosen:
        raise UsageError(f"rule `{rule.text}`: the run has no arm but the baseline", "name it with `arm=baseline:`")
    if not selected:
        raise UsageError(f"rule `{rule.text}` matches no request of the run", _what_there_is(chosen, rule))
    return [(arm.id, cell) for arm in chosen for cell in selected]


def _cells(arm: ArmData, rule: Rule) -> Iterator[Cell]:
    """The cells that the rule names, of those that hold a request, be it a skipped or unfinished one; the overall row
    is always there. The length of a prompt is known when its request has ended, that of an answer when it was run."""
    keys = [key for key in rule.where if key != "arm"]
    if rule.buckets:
        keys = list(dict.fromkeys(["task", "prompt", *keys]))
    if not keys:
        yield Cell()
        return
    known = arm.frame.requests.complete if "prompt" in keys else np.ones(len(arm.frame), dtype=np.bool_)
    frame = arm.frame.select(arm.frame.counted if "response" in keys else known)
    if all(key.removeprefix(LABEL) in frame.labels for key in keys if key.startswith(LABEL)):
        yield from (cell for cell in cells(frame, keys) if _fits(cell, rule.where))


def _fits(cell: Cell, where: Mapping[str, str]) -> bool:
    values = cell.values()
    return all(values.get(key) == value for key, value in where.items() if key != "arm")


def _what_there_is(arms: Sequence[ArmData], rule: Rule) -> str:
    known = {
        "task": sorted({task for arm in arms for task in arm.frame.requests.task}),
        "prompt": PROMPT_LABELS,
        "response": RESPONSE_LABELS,
    }
    for key, value in rule.where.items():
        options = known.get(key, ())
        if options and value not in options:
            return did_you_mean(value, options) or f"{key} is one of: {', '.join(options)}"
    return "see `specprof report RUN --detail` for what the run holds"


def _outcome(arm: str, cell: Cell, row: BucketReport, rule: Rule) -> Outcome:
    estimate = find(to_dict(row), rule)
    result = rule.judge(estimate) if row.requests else "inconclusive"
    return Outcome(
        rule=rule.text,
        arm=arm,
        selection=_name(cell),
        metric=rule.metric,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        n=estimate.n,
        op=rule.op,
        bound=rule.bound,
        outcome=result,
        flags=row.flags,
        advice=None if result != "inconclusive" else advice(estimate, rule) if row.requests else NOTHING,
    )


def _name(cell: Cell) -> str:
    return ",".join(f"{key}={value}" for key, value in cell.values().items()) or "overall"


def find(report: Mapping[str, Any], rule: Rule) -> Estimate:
    """The estimate that the rule's metric names in a bucket report, nested as in the JSON contract."""
    if rule.metric not in METRICS:
        hint = did_you_mean(rule.metric, METRICS, "see `specprof report RUN --json` for the names")
        raise UsageError(f"rule `{rule.text}`: unknown metric `{rule.metric}`", hint)
    node: Any = report
    for key in rule.metric.split("."):
        node = node and node[key]
    if node is None:
        return Estimate.missing(f"{rule.metric} is not measured in this run")
    return Estimate(**node) if isinstance(node, Mapping) else Estimate.exact(node, report["clusters"])


def _metrics(report: Any, prefix: str = "") -> Iterator[str]:
    """Every number of a bucket report by its path, whether a run measures it or not."""
    for name, hint in get_type_hints(report).items():
        if get_origin(hint) not in (None, UnionType):  # lists and maps hold no number of their own
            continue
        kind = next(part for part in get_args(hint) or (hint,) if part is not NoneType)
        if kind in (Estimate, int, float):
            yield f"{prefix}{name}"
        elif is_dataclass(kind):
            yield from _metrics(kind, f"{prefix}{name}.")


METRICS = tuple(_metrics(BucketReport))


def advice(estimate: Estimate, rule: Rule) -> str:
    """What would settle an inconclusive outcome."""
    if estimate.low is None or estimate.high is None:
        why = estimate.reason or "no interval"
        return why if estimate.value is None else f"{why}; `{rule.metric}.value` compares the value alone"
    more = clusters_to_settle(estimate, rule.bound)
    if more is None:
        return "the value lies on the bound: no number of requests settles that; move the bound"
    return settled_by(more)
