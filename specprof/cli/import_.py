"""`specprof import`: rounds recorded elsewhere become a run."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from specprof.cli import common
from specprof.cli.log import log


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="One request per line; `-` is stdin.")],
    out: Annotated[Path, typer.Option(help="The run directory to create.")],
    skip_bad: common.SkipBad = False,
) -> None:
    """Turn a JSONL file of rounds into a run directory.

    Example: specprof import rounds.jsonl --out runs/rounds
    """
    from specprof.importers import import_native

    summary = import_native(file, out, skip_bad=skip_bad)
    for problem in summary.skipped:
        log.warning("skipped %s", problem)
    if summary.unbalanced:
        log.warning(
            "unbalanced: %d of the requests have rounds that do not add up to the response\n"
            "hint: the report flags them; check how the source counts",
            summary.unbalanced,
        )
    typer.echo(f"imported {len(summary.requests):,} requests\nspecprof report {shlex.quote(str(out))}")
