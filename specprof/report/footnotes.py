"""What the decision table cannot say in a cell: flags, notes, costs, times, and how to read the figures."""

from collections.abc import Iterator, Sequence

from specprof.analysis.contract import ArmReport
from specprof.analysis.cost_report import CostReport
from specprof.analysis.estimate import SETTLED_BY, Estimate
from specprof.records import FLAGS
from specprof.report.cells import interval, number
from specprof.report.decision_table import DECIDES, Place, flag_marks

MEASURED = "measured: decode time per token of plain decoding over the arm's, on the same prompts."
PREDICTED = "predicted: S = Σ emitted / Σ cost, by the costs below; if these were measured, with their spread."
NEEDS = (
    "needs: accepted/round above which the cost model has S > 1. In costs of a whole round it reads "
    "τ > 1 + α_R + β_R + φ, τ counting the bonus token; the rule of thumb writes a > 1 + α + β."
)
POOLED = (
    "accepted is per round and pooled over rounds, so the longest answers weigh most: gate on mean_accepted_capped or "
    "mean_accepted_per_request."
)


def footnotes(arms: Sequence[ArmReport], places: Sequence[Place], *, marked: bool = True) -> Iterator[str]:
    """`places` are the rows of the table that `arms` are in; `marked` where it shows flags as marks."""
    several, rows = len(arms) > 1, [place.row for place in places]
    marks = flag_marks(rows)
    yield from (f"{mark + ' ' if marked else ''}{flag}: {FLAGS[flag]}" for flag, mark in marks.items())
    yield from _notes(places, several)
    if any(row.measured for row in rows):
        yield MEASURED
    if any(row.cost.speedup.value is not None for row in rows):
        yield PREDICTED
    if any(row.basis for row in rows):
        yield f"{DECIDES} marks what the verdict rests on."
    if any(row.cost.threshold.value is not None for row in rows):
        yield NEEDS
    for arm in arms:
        if not arm.costs:
            yield from _affordable(arm, [place for place in places if place.arm is arm], several)
    yield from _costs(arms)
    yield from (line for arm in arms for line in _times(arm))
    yield POOLED


def _notes(places: Sequence[Place], several: bool) -> Iterator[str]:
    """A line per note; how many more clusters would settle which row, in one line."""
    settle = []
    for place in places:
        name = f"{place.name}, {place.arm.arm}" if several else place.name
        for note in place.row.notes:
            if found := SETTLED_BY.match(note):
                settle.append(f"{name} {found[1]}")
            else:
                yield f"{name}: {note}"
    if settle:
        yield f"more clusters that would settle it, at this spread: {'; '.join(settle)}"


def _affordable(arm: ArmReport, places: Sequence[Place], several: bool) -> Iterator[str]:
    prices = ", ".join(f"{place.name} {interval(place.row.affordable_overhead)}" for place in places)
    yield f"affordable overhead per drafted token{f', {arm.arm}' if several else ''}: {prices}"


def _costs(arms: Sequence[ArmReport]) -> Iterator[str]:
    """Given costs are those of every arm and stand once; of measured ones the median at each context."""
    yield from dict.fromkeys(
        f"costs: {priced(costs)}" for arm in arms for costs in arm.costs if costs.source == "given"
    )
    for arm in arms:
        measured = [costs for costs in arm.costs if costs.source != "given"]
        if measured:
            regimes = " / ".join(costs.regime for costs in measured)
            parts = (f"{name} {' / '.join(values)}" for name, values in _medians(measured).items())
            yield f"costs of {arm.arm}, {regimes} ({measured[0].step_ms.n} repeats): {', '.join(parts)}"


def _medians(measured: Sequence[CostReport]) -> dict[str, list[str]]:
    steps = [f"{number(costs.step_ms.value, 1)} ms" for costs in measured]
    return {"t₁": steps} | {
        name: [number(_parts(costs)[name].value, 3) for costs in measured] for name in _parts(measured[0])
    }


def priced(costs: CostReport) -> str:
    """Given costs: `α 0.1, α₀ 0 (not given: counted as 0), …` in plain decode steps."""
    return ", ".join(
        f"{name} {part.value or 0:g}" + (f" ({part.reason})" if part.reason else "")
        for name, part in _parts(costs).items()
    )


def cost_figures(costs: CostReport) -> Iterator[tuple[str, str]]:
    """Every cost with its interval and its reason: for `--detail`."""
    more = {"ψ": costs.per_request, "t₁ in ms": costs.step_ms}
    widths = {f"v({entry.width})": entry.cost for entry in costs.widths}
    for name, part in (_parts(costs) | more | widths).items():
        yield name, interval(part, 3) + (f"  ({part.reason})" if part.reason else "")


def _parts(costs: CostReport) -> dict[str, Estimate]:
    return {"α": costs.alpha, "α₀": costs.alpha_round, "β": costs.beta, "φ": costs.phi}


def _times(arm: ArmReport) -> Iterator[str]:
    """`time per round of spec: draft 4.5 + verify 60.1 + rest 1.2 = 65.8 ms; a plain step 47.0 ms`"""
    split = arm.overall.time_per_round
    if split.step_ms.value is None:
        return
    parts = {"draft": split.draft_ms, "verify": split.verify_ms, "rest": split.overhead_ms}
    known = " + ".join(f"{name} {number(part.value, 1)}" for name, part in parts.items() if part.value is not None)
    plain = "" if split.plain_ms.value is None else f"; a plain step {number(split.plain_ms.value, 1)} ms"
    yield f"time per round of {arm.arm}: {known + ' = ' if known else ''}{number(split.step_ms.value, 1)} ms{plain}"
