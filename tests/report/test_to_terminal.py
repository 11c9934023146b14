import io

import pytest
from rich.console import Console

from specprof.analysis.cost import Costs
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
    for word in ("code", "summarise", "all", "2.50", "[2.31,2.69]", "unpriced"):
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


def test_arms_stand_below_their_task_with_names_as_long_as_those_of_real_ones(report):
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None)
    arms = {"draft_model-k4": 1, "prompt_lookup-k4": 2}
    to_terminal.show(report(arms, n=12, step_us=34_000, costs=Costs(0.1, 0)), console=console)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 100
    first = [line.split()[0] for line in lines if line.startswith(" ") and line.strip()]
    assert first[2:] == [word for task in ("chat", "code", "all") for word in (task, *arms)]
    assert any("enable¹²³" in line for line in lines)


def test_a_narrow_table_of_two_arms_keeps_every_figure(report):
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    arms = {"draft_model-k4": 1, "prompt_lookup-k4": 2}
    to_terminal.show(report(arms, n=12, step_us=34_000, costs=Costs(0.1, 0)), console=console)
    out = console.file.getvalue()
    assert max(map(len, out.splitlines())) <= 80
    for words in ("[2.28,2.72]", "[0.67,0.80]*", "[2.35,2.65]", "undecided²³"):
        assert words in out


def test_marked_and_unmarked_speed_ups_end_at_the_same_column(report):
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None)
    to_terminal.show(report({"one": 1}, costs=Costs(0.1, 0)), console=console)
    rows = [line for line in console.file.getvalue().splitlines() if "]*" in line]
    assert len(rows) == 3
    assert len({(row.index("]*"), row.rindex("]")) for row in rows}) == 1


def test_detail_shows_the_costs_of_each_regime_and_every_row(report):
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None)
    to_terminal.show(report({"one": 1}, costs=Costs(0.1, 0)), detail=True, console=console)
    out = console.file.getvalue()
    for words in ("one · costs, given", "one · chat", "one · all", "one · code · p 0-128", "time_per_round.draft_ms"):
        assert words in out


def test_a_run_without_an_arm_to_judge_says_so(report):
    console = Console(file=io.StringIO(), width=100)
    to_terminal.show(report({}), console=console)
    assert "no arm but the baseline" in console.file.getvalue()
