"""The exceptions that a user may meet, each with the exit code of the command that raised it.

    SpecprofError
    ├── UsageError          2   a flag, a config key or input data is wrong
    │   └── BadRecordError  2   one record of an input file is wrong (`--skip-bad` goes on without it)
    ├── DamagedError        2   a file of a run directory cannot be trusted (`--skip-bad` goes on without it)
    └── EnvironmentError_   4   engine, model, device, disk or folder

Anything else is a fault of ours and exits 70. A failed check (1) and an undecided one (3) are results, not errors.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from enum import IntEnum


class Exit(IntEnum):
    """Exit codes. When several hold, 2, 4 and 70 win over 1, which wins over 3."""

    OK = 0
    FAILED = 1
    USAGE = 2
    INCONCLUSIVE = 3
    ENVIRONMENT = 4
    INTERNAL = 70
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class SpecprofError(Exception):
    """What happened (with the value and the place) and, in `hint`, what to type."""

    exit_code = Exit.INTERNAL

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(SpecprofError):
    exit_code = Exit.USAGE


class BadRecordError(UsageError):
    """One record is wrong; `place` is `file:line`."""

    def __init__(self, place: str, problem: str, hint: str | None = None) -> None:
        super().__init__(f"`{place}` {problem}", hint)
        self.place = place


class DamagedError(SpecprofError):
    exit_code = Exit.USAGE


class EnvironmentError_(SpecprofError):  # noqa: N801, N818 - `EnvironmentError` is a builtin alias of OSError
    exit_code = Exit.ENVIRONMENT


def did_you_mean(word: str, options: Iterable[str], otherwise: str | None = None) -> str | None:
    """A hint that names the option nearest to `word`, or `otherwise` where none is near."""
    near = get_close_matches(word, list(options), n=1)
    return f"did you mean `{near[0]}`?" if near else otherwise
