"""Rules on a run: which rows a rule speaks of, and what comes of it there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from specprof.analysis.buckets import LABEL, PROMPT_LABELS, RESPONSE_LABELS, Cell, cells
from specprof.analysis.contract import to_dict
from specprof.analysis.cost import Costs
from specprof.analysis.estimate import Estimate, clusters_to_settle
from specprof.analysis.evaluate import Arm, RunData, arms_of
from specprof.analysis.measured import Measured
from specprof.errors import UsageError, did_you_mean
from specprof.gate.rules import Result, Rule
from specprof.records import BASELINE

SCHEMA = "specprof.gate/1"
NOTHING = "the arm has no finished request here: no data never passes"
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


def judge(run: RunData, rules: Sequence[Rule], costs: Costs | None, *, allow_partial: bool = False) -> list[Outcome]:
    """The outcomes in the order of the rules. Raises `UsageError` for a selection that matches nothing or an unknown
    metric. A run that is not complete is inconclusive unless `allow_partial`."""
    arms = arms_of(run, costs)
    outcomes = [outcome for rule in rules for outcome in _outcomes(arms, rule)]
    if run.state == "complete" or allow_partial:
        return outcomes
    return [replace(o, outcome="inconclusive", advice=PARTIAL.format(state=run.state)) for o in outcomes]


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
        "outcome": overall(outcomes),
        "rules": [asdict(outcome) for outcome in outcomes],
    }


def _outcomes(arms: Sequence[Arm], rule: Rule) -> Iterator[Outcome]:
    known = [arm.id for arm in arms]
    wanted = rule.where.get("arm")
    if wanted is not None and wanted not in known:
        hint = did_you_mean(wanted, known, f"arms: {', '.join(known)}")
        raise UsageError(f"rule `{rule.text}`: no arm `{wanted}`", hint)
    chosen = [arm for arm in arms if (arm.id == wanted if wanted else arm.id != BASELINE)]
    selected = list(dict.fromkeys(cell for arm in chosen for cell in _cells(arm, rule)))
    if chosen and not selected:
        raise UsageError(f"rule `{rule.text}` matches no request of the run", _what_there_is(chosen, rule))
    for arm in chosen:
        for cell in selected:
            yield _outcome(arm, cell, rule)


def _cells(arm: Arm, rule: Rule) -> Iterator[Cell]:
    """The cells that the rule names, of those that hold a request, be it a skipped or unfinished one; the overall row
    is always there. Only a finished answer has a length."""
    keys = [key for key in rule.where if key != "arm"]
    if rule.buckets:
        keys = list(dict.fromkeys(["task", "prompt", *keys]))
    if not keys:
        yield Cell()
        return
    frame = arm.frame.select(arm.frame.counted) if "response" in keys else arm.frame
    if all(key.removeprefix(LABEL) in frame.labels for key in keys if key.startswith(LABEL)):
        yield from (cell for cell in cells(frame, keys) if _fits(cell, rule.where))


def _fits(cell: Cell, where: Mapping[str, str]) -> bool:
    values = {"task": cell.task, "prompt": cell.prompt, "response": cell.response}
    values |= {LABEL + name: value for name, value in cell.labels}
    return all(values[key] == value for key, value in where.items() if key != "arm")


def _what_there_is(arms: Sequence[Arm], rule: Rule) -> str:
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


def _outcome(arm: Arm, cell: Cell, rule: Rule) -> Outcome:
    row = arm.row(cell)
    estimate = find(to_dict(row), rule)
    result = rule.judge(estimate) if row.requests else "inconclusive"
    return Outcome(
        rule=rule.text,
        arm=arm.id,
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
    values = [("task", cell.task), ("prompt", cell.prompt), ("response", cell.response)]
    values += [(LABEL + name, value) for name, value in cell.labels]
    return ",".join(f"{key}={value}" for key, value in values if value is not None) or "overall"


def find(report: Mapping[str, Any], rule: Rule) -> Estimate:
    """The estimate that the rule's metric names in a bucket report, nested as in the JSON contract."""
    if rule.metric not in metrics(report):
        hint = did_you_mean(rule.metric, metrics(report), "see `specprof report RUN --json` for the names")
        raise UsageError(f"rule `{rule.text}`: unknown metric `{rule.metric}`", hint)
    node: Any = report
    for key in rule.metric.split("."):
        node = node and node[key]
    if node is None:
        return Estimate.missing(f"{rule.metric} is not measured in this run")
    return Estimate(**node) if isinstance(node, Mapping) else Estimate.exact(node, report["clusters"])


def metrics(report: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Every metric name that a rule may use, those that this run does not measure included."""
    found: list[str] = []
    for key, node in report.items():
        if key == "measured" and node is None:
            found += [f"{prefix}{key}.{part.name}" for part in fields(Measured)]
        elif _is_estimate(node) or _is_number(node) or key == "largest_request_share":
            found.append(f"{prefix}{key}")
        elif isinstance(node, Mapping):
            found += metrics(node, f"{prefix}{key}.")
    return found


def advice(estimate: Estimate, rule: Rule) -> str:
    """What would settle an inconclusive outcome."""
    if estimate.low is None or estimate.high is None:
        why = estimate.reason or "no interval"
        return why if estimate.value is None else f"{why}; `{rule.metric}.value` compares the value alone"
    more = clusters_to_settle(estimate, rule.bound)
    if more is None:
        return "the value lies on the bound: no number of requests settles that; move the bound"
    return f"about {max(more, 1):,} more clusters would settle it at this spread"


def _is_estimate(node: Any) -> bool:
    return isinstance(node, Mapping) and "value" in node and "reason" in node


def _is_number(node: Any) -> bool:
    return isinstance(node, (int, float)) and not isinstance(node, bool)
