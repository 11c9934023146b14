"""`specprof gate`: does a run keep its promises?"""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specprof.cli import common
from specprof.cli.log import log
from specprof.errors import Exit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specprof.gate import Outcome


class Inconclusive(StrEnum):
    """What an inconclusive gate exits with: 1, 0 after a warning, or 3."""

    FAIL = "fail"
    WARN = "warn"
    THREE = "3"


def gate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory.")],
    rule: Annotated[
        list[str] | None,
        typer.Option(metavar="EXPR", help="A promise (repeatable); by default those of specprof.toml."),
    ] = None,
    as_json: common.AsJson = False,
    inconclusive: Annotated[
        Inconclusive, typer.Option(help="What an inconclusive gate does: fail (1), warn (0) or 3.")
    ] = Inconclusive.THREE,
    allow_partial: Annotated[bool, typer.Option("--allow-partial", help="Judge a run that is not complete.")] = False,
    alpha: common.Alpha = None,
    beta: common.Beta = None,
    alpha_round: common.AlphaRound = None,
    phi: common.Phi = None,
    costs: common.CostsFile = None,
    skip_bad: common.SkipBad = False,
) -> int:
    """Judge a run by rules: exit code 0 if all hold, 1 if one is broken, 3 if that is undecided.

    Example: specprof gate runs/chat --rule 'task=code: mean_accepted > 1.2'
    """
    import json
    import os

    from specprof.config import load_config
    from specprof.errors import UsageError
    from specprof.gate import gate_document, judge, overall, parse

    texts = rule or load_config(Path.cwd(), os.environ).rules
    if not texts:
        raise UsageError("no rules", "pass `--rule 'mean_accepted > 1.0'` or write `[gate] rules` in specprof.toml")
    (data,) = common.read([run], skip_bad)
    given = {"alpha": alpha, "beta": beta, "alpha_round": alpha_round, "phi": phi}
    priced = common.costs(given, costs, [data])
    outcomes = judge(data, [parse(text) for text in texts], priced, allow_partial=allow_partial)
    if as_json:
        typer.echo(json.dumps(gate_document(data, outcomes), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        _show(outcomes)
    return _exit_code(overall(outcomes), inconclusive)


def _show(outcomes: "Sequence[Outcome]") -> None:
    from specprof.gate import overall
    from specprof.report.cells import interval_of

    for o in outcomes:
        found = interval_of(o.value, o.low, o.high)
        typer.echo(f"{o.outcome:<12} {o.rule}")
        typer.echo(f"             {o.arm}, {o.selection}: {found}, bound {o.op} {o.bound:g}, n = {o.n or 0:,}")
        if o.flags:
            typer.echo(f"             flags: {', '.join(o.flags)}")
        if o.advice:
            typer.echo(f"             {o.advice}")
    typer.echo(f"gate: {overall(outcomes)}")


def _exit_code(result: str, inconclusive: Inconclusive) -> int:
    if result == "inconclusive" and inconclusive is Inconclusive.WARN:
        log.warning("the gate is inconclusive and passes because of `--inconclusive warn`")
        return Exit.OK
    undecided = Exit.FAILED if inconclusive is Inconclusive.FAIL else Exit.INCONCLUSIVE
    return {"pass": Exit.OK, "fail": Exit.FAILED, "inconclusive": undecided}[result]
