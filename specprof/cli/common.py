"""Options that several commands share, and how runs are read for judging."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specprof.cli.log import log

if TYPE_CHECKING:
    from specprof.analysis.cost import Costs
    from specprof.analysis.evaluate import RunData

Runs = Annotated[list[Path], typer.Argument(metavar="RUN…", help="Run directories.")]
Alpha = Annotated[
    float | None, typer.Option(help="Cost of one drafted token, in plain decode steps of the target.", min=0)
]
Beta = Annotated[float | None, typer.Option(help="Cost of verifying one more position, in plain decode steps.")]
AlphaRound = Annotated[
    float | None, typer.Option(help="Draft cost per round that does not grow with k, in plain decode steps.", min=0)
]
Phi = Annotated[float | None, typer.Option(help="Fixed overhead per round, in plain decode steps.", min=0)]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Go on without damaged files or records; they are counted.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def costs(alpha: float | None, beta: float | None, alpha_round: float | None, phi: float | None) -> "Costs | None":
    """The costs given by flags; None without any. What is not given counts as 0, and the report says so."""
    from specprof.analysis.cost import Costs

    named = {"alpha": alpha, "beta": beta, "alpha_round": alpha_round, "phi": phi}
    absent = frozenset(name for name, value in named.items() if value is None)
    if absent == named.keys():
        return None
    return Costs(alpha or 0.0, beta or 0.0, alpha_round or 0.0, phi or 0.0, absent=absent)


def read(paths: Sequence[Path], skip_bad: bool) -> "list[RunData]":
    """The runs, ready for analysis; what had to be skipped is said on stderr."""
    from specprof.analysis.evaluate import RunData
    from specprof.analysis.frame import COLUMNS
    from specprof.store.read import read_run

    runs = []
    for path in paths:
        run = read_run(path, skip_bad=skip_bad, columns=COLUMNS)
        for problem in run.problems:
            log.warning(problem)
        runs.append(RunData(info=run.info, state=run.state, table=run.table, problems=run.problems))
    return runs
