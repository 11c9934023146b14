"""`specprof report`: what one or more runs say."""

from enum import StrEnum
from typing import Annotated

import typer

from specprof.cli import common

BY = "task,prompt,response"


class Format(StrEnum):
    """How the report is printed."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"


def report(
    runs: common.Runs,
    as_json: common.AsJson = False,
    detail: Annotated[bool, typer.Option("--detail", help="Show every figure and every bucket.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print one CSV row per arm and bucket.")] = False,
    format: Annotated[Format, typer.Option(help="How to print the decision table.")] = Format.TERMINAL,
    by: Annotated[
        str,
        typer.Option(help="What makes a bucket (task, prompt, response, label.NAME); the table then shows buckets."),
    ] = BY,
    arm: Annotated[list[str] | None, typer.Option(help="Only this arm (repeatable).")] = None,
    alpha: common.Alpha = None,
    beta: common.Beta = None,
    alpha_round: common.AlphaRound = None,
    phi: common.Phi = None,
    costs: common.CostsFile = None,
    skip_bad: common.SkipBad = False,
) -> None:
    """Say per task where speculative decoding pays: acceptance, threshold, speed-up, verdict.

    Example: specprof report runs/chat --alpha 0.1 --beta 0.02
    """
    from specprof.analysis.evaluate import document
    from specprof.errors import UsageError
    from specprof.report import to_csv, to_json, to_markdown, to_terminal

    if as_json and csv:
        raise UsageError("`--json` and `--csv` exclude each other", "choose one")
    data = common.read(runs, skip_bad)
    given = {"alpha": alpha, "beta": beta, "alpha_round": alpha_round, "phi": phi}
    keys = tuple(key.strip() for key in by.split(","))
    result = document(data, costs=common.costs(given, costs, data), by=keys, arms=arm)
    if as_json:
        typer.echo(to_json.render(result))
    elif csv:
        typer.echo(to_csv.render(result), nl=False)
    elif format is Format.MARKDOWN:
        typer.echo(to_markdown.render(result, buckets=by != BY))
    else:
        to_terminal.show(result, detail=detail, buckets=by != BY)
