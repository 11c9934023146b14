"""The command line: one file per command; each parses, calls one function and chooses the exit code."""

import errno
import io
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from specprof.cli.app import app
from specprof.config import load_config
from specprof.errors import Exit, SpecprofError

# What the operating system says about the user's machine, not about our code.
_ENVIRONMENT_ERRNOS = (errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EPERM, errno.EDQUOT)
_EXIT_HINT = "if the engine is your own, let it raise an exception instead"


def main() -> None:
    """The `specprof` command."""
    sys.stdout, sys.stderr = (stream or _nowhere() for stream in (sys.stdout, sys.stderr))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a letter gets its code, not a crash
            stream.reconfigure(errors="backslashreplace")
    code = invoke(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = _nobody_reads()
    sys.exit(code)


def invoke(argv: Sequence[str]) -> int:
    """Run one command line and return its exit code; every failure becomes `error:` and `hint:` lines on stderr."""
    debug = "--debug" in argv or bool(os.environ.get("SPECPROF_DEBUG"))
    try:
        asks_only = not argv or any(flag in argv for flag in ("--help", "--version"))
        defaults = {} if asks_only else load_config(Path.cwd(), os.environ).default_map()
        code = app(args=list(argv), prog_name="specprof", standalone_mode=False, default_map=defaults)
        if code == Exit.INTERRUPTED:  # typer's word for Ctrl-C
            return _complain("interrupted", None, Exit.INTERRUPTED)
        return code if isinstance(code, int) else Exit.OK
    except KeyboardInterrupt:
        return _complain("interrupted", None, Exit.INTERRUPTED)
    except BrokenPipeError:
        return _nobody_reads()
    except SystemExit as stop:  # shell completion ends so, and typer and rich where nobody reads their output
        if isinstance(stop.__context__, BrokenPipeError):
            return _nobody_reads()
        if "_SPECPROF_COMPLETE" in os.environ or any(word.endswith("-completion") for word in argv):
            return stop.code if isinstance(stop.code, int) else Exit.OK
        return _complain(f"an engine ended the program: SystemExit({stop.code!r})", _EXIT_HINT, Exit.ENVIRONMENT)
    except Exception as error:
        if debug:
            traceback.print_exc()
        return _explain(error)


def _nobody_reads() -> int:
    """The reader of our output is gone (`specprof report … | head`): no failure of a check."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.BROKEN_PIPE


def _explain(error: Exception) -> int:
    if isinstance(error, SpecprofError):
        return _complain(str(error), error.hint, error.exit_code)
    if isinstance(error, OSError) and error.errno in _ENVIRONMENT_ERRNOS:
        hint = "free some space or choose another folder"
        return _complain(f"`{error.filename or 'output'}`: {error.strerror}", hint, Exit.ENVIRONMENT)
    if isinstance(error, UnicodeEncodeError):
        return _complain(f"`{error.object!a}` is not UTF-8", "rename it", Exit.USAGE)
    if hasattr(error, "format_message"):  # the parser's own errors; which package they live in depends on typer
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "specprof"
        return _complain(error.format_message(), f"see `{command} --help`", Exit.USAGE)
    message = f"internal error: {type(error).__name__}: {error}"
    return _complain(message, "run it again as `specprof --debug …` and report the traceback", Exit.INTERNAL)


def _complain(message: str, hint: str | None, code: Exit) -> int:
    lines = f"error: {message}\n" + (f"hint: {hint}\n" if hint else "")
    try:
        sys.stderr.write(lines)
        sys.stderr.flush()
    except OSError:  # nobody to tell; the exit code still does
        sys.stderr = _nowhere()
    return code


def _nowhere() -> TextIO:
    """In place of a stream that is closed or cannot be written."""
    return Path(os.devnull).open("w")
