"""Options that several commands share, and how runs are read for judging."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specprof.cli.log import log

if TYPE_CHECKING:
    from specprof.analysis.calibration import Calibration
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
CostsFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Costs that `specprof calibrate --out` wrote, instead of the run's own."),
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Go on without damaged files or records; they are counted.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


MOST = 1e6  # plain decode steps; beyond it sums overflow and nothing means anything


def costs(
    given: Mapping[str, float | None], file: Path | None, runs: "Sequence[RunData]"
) -> "Costs | Calibration | None":
    """What the user says that rounds cost, by flags or by a file; None where each run's own calibration counts. A cost
    without a flag counts as 0, and the report says so. Raises `UsageError`."""
    from specprof.analysis.cost import Costs
    from specprof.errors import UsageError

    named = {name: value for name, value in given.items() if value is not None}
    flags = {name: f"--{name.replace('_', '-')}" for name in given}
    if named and file is not None:
        raise UsageError(f"`--costs` and `{flags[next(iter(named))]}` exclude each other", "choose one")
    for name, value in named.items():
        if not abs(value) <= MOST:
            raise UsageError(
                f"`{flags[name]} {value}` is no cost", f"pass `{flags[name]}` as a share of one plain decode step"
            )
    if named:
        alpha, beta, alpha_round, phi = (given[name] or 0.0 for name in ("alpha", "beta", "alpha_round", "phi"))
        return Costs(alpha, beta, alpha_round, phi, absent=frozenset(given.keys() - named.keys()))
    return None if file is None else _measured_elsewhere(file, runs)


def _measured_elsewhere(file: Path, runs: "Sequence[RunData]") -> "Calibration":
    """Whoever judges a run by the costs of another model or set-up may mean to: a difference is a warning."""
    from specprof.analysis.calibration import Calibration
    from specprof.calibrate import differences, read_costs

    found = read_costs(file)
    for run in runs:
        if others := differences(found, {"arms": {}} | dict(run.info)):
            words = "run `%s`: the costs of `%s` are not those of this run: %s"
            log.warning(words, run.info.get("run_id"), file, "; ".join(others))
    return Calibration(found.content["occasions"], found.content["arms"])


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
