"""Acceptance-rate profiler for speculative decoding."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__version__ = "0.1.0"
__all__ = ["__version__", "load"]


def load(run: str | Path) -> "pd.DataFrame":
    """The requests of a run directory, one row each, rounds as list columns; requests that are still in the spool
    included (`complete` is False for unfinished ones). Raises `UsageError` where `run` is no run directory."""
    from specprof.store.read import read_run

    frame: pd.DataFrame = read_run(Path(run)).table.to_pandas()
    return frame
