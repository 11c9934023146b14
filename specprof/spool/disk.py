"""Errors of the file system, in the user's words."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from specprof.errors import EnvironmentError_

_FULL = "free some space or pass another `--out`; what was recorded so far is kept"
_CLOSED = "check the folder's rights and mount options, or pass another `--out`"


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """A full disk, a missing right or a path that is no folder becomes an `EnvironmentError_` that names `folder`."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        reason = "the disk is full" if full else error.strerror or str(error)
        raise EnvironmentError_(f"cannot write to `{folder}`: {reason}", _FULL if full else _CLOSED) from error


def sync(path: Path) -> None:
    """Make a file's bytes, or a folder's renames, outlive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
