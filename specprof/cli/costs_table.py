"""How a calibration is printed: per context the plain step and the verification, then what each drafter adds."""

from collections.abc import Iterator, Mapping
from textwrap import fill
from typing import Any

from specprof.analysis.calibration import costs_from, samples_of
from specprof.analysis.cost_report import CostReport, cost_report
from specprof.analysis.estimate import Estimate
from specprof.report.cells import interval

WIDTH = 100
TIED = "\N{NO-BREAK SPACE}"  # holds a figure together where a line is folded
NOTE = (
    "In plain decode steps t₁ of the target: the median over repeats with its 95 % interval. A round that verifies w "
    "drafted tokens and was proposed p costs v(w) + α·p + α₀ + φ, a request ψ once. β is the slope of v at the arm's k."
)


def render(document: Mapping[str, Any]) -> str:
    """The costs of a document `specprof.costs/1`, in lines of at most 100 columns."""
    arms, samples = document["arms"], samples_of(document["occasions"])
    every = {id: costs_from(samples, arm, arms) for id, arm in arms.items()}
    reports = [(id, cost_report(costs, arms[id]["k"])) for id, found in every.items() for costs in found]
    return "\n".join([*_regimes(reports), fill(NOTE, WIDTH)])


def _regimes(reports: list[tuple[str, CostReport]]) -> Iterator[str]:
    for regime in dict.fromkeys(report.regime for _, report in reports):
        here = [(id, report) for id, report in reports if report.regime == regime]
        shared = here[0][1]
        yield f"{regime}: t₁ {interval(shared.step_ms)} ms, {shared.step_ms.n} repeats"
        widths = {f"v({width.width})": width.cost for width in shared.widths}
        yield _folded("rounds", {"φ": shared.phi, **widths})
        for id, report in here:
            own = {"α": report.alpha, "α₀": report.alpha_round, "β": report.beta, "ψ": report.per_request}
            yield _folded(id, own)
        yield ""


def _folded(head: str, figures: Mapping[str, Estimate]) -> str:
    cells = [f"{name} {interval(figure, 3)}".replace(" ", TIED) for name, figure in figures.items()]
    text = fill(f"{head}: {'  '.join(cells)}", WIDTH, initial_indent="  ", subsequent_indent="    ")
    return text.replace(TIED, " ")
