"""The application object and the options that every command shares."""

from typing import Annotated

import typer

from specprof import __version__
from specprof.cli.calibrate import calibrate
from specprof.cli.doctor import doctor
from specprof.cli.gate import gate
from specprof.cli.import_ import import_
from specprof.cli.log import listen
from specprof.cli.report import report
from specprof.cli.run import run
from specprof.cli.verify import verify

WIDTH = {"max_content_width": 100}

app = typer.Typer(
    name="specprof",
    context_settings=WIDTH,
    help="Acceptance-rate profiler for speculative decoding: on which of your traffic does it pay?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"specprof {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no warnings.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say what is being done.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """What holds for every command; `invoke` reads --debug itself, so that it also covers errors of parsing."""
    listen(quiet, verbose)


for command, name in (
    (run, "run"),
    (report, "report"),
    (gate, "gate"),
    (calibrate, "calibrate"),
    (verify, "verify"),
    (doctor, "doctor"),
    (import_, "import"),
):
    app.command(name, context_settings=WIDTH)(command)
