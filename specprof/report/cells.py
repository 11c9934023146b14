"""How a figure looks: shared by every report that is read by people."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from specprof.analysis.contract import CostReport
from specprof.analysis.estimate import Estimate
from specprof.analysis.evaluate import ArmReport, BucketReport
from specprof.records import FLAGS

MISSING = "–"
NEEDS = (
    "needs: accepted/round above which the cost model has S > 1. In costs of a whole round it reads "
    "τ > 1 + α_R + β_R + φ, τ counting the bonus token; the rule of thumb writes a > 1 + α + β."
)
POOLED = (
    "accepted/round is pooled over rounds, so the longest answers weigh most: gate on mean_accepted_capped or "
    "mean_accepted_per_request."
)
DECISION = ("task", "n", "accepted/round", "p10", "needs", "speed-up", "basis", "verdict", "flags")


def number(value: float | None, digits: int = 2) -> str:
    return MISSING if value is None else f"{value:.{digits}f}"


def interval(estimate: Estimate | None, digits: int = 2) -> str:
    """`1.42 [1.10, 1.74]`; the value alone where there is no interval."""
    return MISSING if estimate is None else interval_of(estimate.value, estimate.low, estimate.high, digits)


def interval_of(value: float | None, low: float | None, high: float | None, digits: int = 2) -> str:
    if value is None or low is None or high is None:
        return number(value, digits)
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def label(row: BucketReport) -> str:
    """The row's place: task, prompt and response bucket and labels that it fixes; `all` for the overall row."""
    labels = [value or f"no {name}" for name, value in row.labels.items()]
    parts = [row.task, row.prompt and f"p {row.prompt}", row.response and f"r {row.response}", *labels]
    return " · ".join(part for part in parts if part) or "all"


def speedup(row: BucketReport) -> Estimate | None:
    """The speed-up that the verdict rests on; where it rests on nothing, the measured one if there is one."""
    if row.basis == "cost" or row.measured is None:
        return row.cost.speedup
    return row.measured.decode


class Decision(NamedTuple):
    """One row of the decision table; its headings are `DECISION`."""

    task: str
    n: str
    accepted: str
    p10: str
    needs: str
    speedup: str
    basis: str
    verdict: str
    flags: str


def decision(row: BucketReport) -> Decision:
    return Decision(
        task=label(row),
        n=f"{row.requests:,}",
        accepted=interval(row.mean_accepted),
        p10=number(row.accepted_p10.value),
        needs=number(row.cost.threshold.value),
        speedup=interval(speedup(row)),
        basis=row.basis or MISSING,
        verdict=row.verdict or MISSING,
        flags=" ".join(row.flags),
    )


def decision_rows(arm: ArmReport, buckets: bool) -> list[BucketReport]:
    """The tasks, or with `buckets` the cells asked for; then everything together."""
    return [*(arm.buckets if buckets else arm.tasks), arm.overall]


def title(arm: ArmReport) -> str:
    """What is known of an arm; an imported one may tell little."""
    known = {"method": arm.method, "k": arm.k, "draft": arm.draft, "temperature": arm.temperature}
    settings = ", ".join(f"{name} {value}" for name, value in known.items() if value is not None)
    return f"{arm.run_id} · {arm.arm} ({settings})"


def run_line(run: Mapping[str, Any]) -> str:
    parts = [str(run[key]) for key in ("run_id", "engine", "engine_version", "target") if run.get(key)]
    return " · ".join([*parts, f"state {run['state']}"])


def footnotes(arm: ArmReport, buckets: bool) -> Iterator[str]:
    """What the decision table cannot say in a cell: flags with their sentences, notes, and how to read the figures."""
    rows = decision_rows(arm, buckets)
    for flag in FLAGS:
        flagged = [label(row) for row in rows if flag in row.flags]
        if flagged:
            where = "every row" if len(flagged) == len(rows) else ", ".join(flagged)
            yield f"{flag} ({where}): {FLAGS[flag]}"
    yield from (f"{label(row)}: {note}" for row in rows for note in row.notes)
    if arm.overall.cost.threshold.value is None:
        prices = ", ".join(f"{label(row)} {interval(row.affordable_overhead)}" for row in rows)
        yield f"affordable overhead per drafted token: {prices}"
    else:
        yield NEEDS
    yield from (f"costs: {priced(costs)}" for costs in arm.costs)
    yield POOLED


def priced(costs: CostReport) -> str:
    """`α 0.1, α₀ 0 (not given: counted as 0), …` in plain decode steps."""
    parts = {"α": costs.alpha, "α₀": costs.alpha_round, "β": costs.beta, "φ": costs.phi}
    return ", ".join(
        MISSING if part.value is None else f"{name} {part.value:g}" + (f" ({part.reason})" if part.reason else "")
        for name, part in parts.items()
    )


def figures(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every figure of a row, as the contract nests it, under its path: for `--detail`."""
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and set(value) == {"value", "low", "high", "n", "reason"}:
            estimate = Estimate(**value)
            yield name, interval(estimate, 3) + (f"  ({estimate.reason})" if estimate.value is None else "")
        elif isinstance(value, Mapping):
            yield from figures(value, f"{name}.")
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            yield name, " ".join(number(item["value"], 3) for item in value)
        elif isinstance(value, list):
            yield name, " ".join(str(item) for item in value) or MISSING
        else:
            yield name, MISSING if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
