"""What earlier parts of a run have done."""

from pathlib import Path

from specprof.records import Request
from specprof.store.read import read_run

COLUMNS = ("request_id", "prompt_id", "sample", "arm", "task", "phase", "complete", "prompt_tokens")
REASONS = ("finish_reason", "excluded")


def read_done(path: Path, *, skip_bad: bool, text: bool) -> list[Request]:
    """Every complete measured request, as far as the jobs to come depend on it; answers only with `text`."""
    names = (*COLUMNS, *REASONS, *(["output_text"] if text else []))
    rows = read_run(path, skip_bad=skip_bad, columns=names).table.to_pylist()
    done = (row | {"excluded": dict(row["excluded"])} for row in rows if row["complete"] and row["phase"] == "measure")
    return [Request(**row, response_tokens=0) for row in done]
