import io

import pytest
from rich.console import Console

from specprof.analysis.evaluate import RunData, document
from specprof.records import Request, Round
from specprof.report import to_terminal
from specprof.store.schema import rows

LONG = "a-task-with-a-name-that-goes-on-and-on-for-longer-than-any-column"


def shown(width, tasks=("code", "summarise"), terminal=True):
    requests = [
        Request(f"{task}{i}", f"{task}{i}", "spec", task, 10, 6, (Round(4, 4, 2 + i % 2, 3 + i % 2),), writer="w")
        for task in tasks
        for i in range(30)
    ]
    info = {"run_id": "r", "arms": {"spec": {"method": "draft_model", "k": 4, "temperature": 0.0}}}
    console = Console(file=io.StringIO(), width=width, force_terminal=terminal, color_system=None)
    to_terminal.show(document([RunData(info, "complete", rows(requests))]), console=console)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 99, 100, 200])
def test_every_column_survives_every_terminal(width):
    out = shown(width)
    for word in ("code", "summarise", "all", "2.50", "[2.31, 2.69]", "unpriced"):
        assert word in out
    assert max(map(len, out.splitlines())) <= min(width, 100)


@pytest.mark.parametrize("width", [80, 100])
def test_a_long_task_name_folds_and_costs_no_other_column(width):
    out = shown(width, tasks=(LONG,))
    assert max(map(len, out.splitlines())) <= width
    assert "2.50" in out
    assert "unpriced" in out
    folded = "".join(line.split()[0] for line in out.splitlines() if line.startswith(" ") and line.strip())
    assert LONG in folded


def test_a_pipe_gets_100_columns():
    assert max(map(len, shown(80, terminal=False).splitlines())) == 100
