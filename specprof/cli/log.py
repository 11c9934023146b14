"""What goes to stderr beside errors: warnings, and with `-v` what is being done."""

import logging

import typer

log = logging.getLogger("specprof")


class _Lines(logging.Handler):
    """`warning: …` for people; written through typer, which knows the stderr of the moment."""

    def emit(self, record: logging.LogRecord) -> None:
        typer.echo(f"{record.levelname.lower()}: {record.getMessage()}", err=True)


def listen(quiet: bool, verbose: bool) -> None:
    """Show warnings; with `quiet` nothing, with `verbose` also progress in words."""
    log.handlers = [_Lines()]
    log.propagate = False
    log.setLevel(logging.CRITICAL if quiet else logging.INFO if verbose else logging.WARNING)
