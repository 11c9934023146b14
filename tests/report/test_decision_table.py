from dataclasses import replace

import pytest

from specprof.analysis.contract import Document
from specprof.analysis.cost import Costs
from specprof.records import FLAGS
from specprof.report.decision_table import MARKS, columns, decision, flag_marks, places, tables, title


def test_arms_of_the_same_task_stand_next_to_each_other(report):
    arms = report({"one": 1, "two": 2}).arms
    found = [(place.name, place.arm.arm) for place in places(arms, buckets=False)]
    assert found == [(task, arm) for task in ("chat", "code", "all") for arm in ("one", "two")]


def test_a_cell_that_one_arm_lacks_leaves_the_others_in_order(report):
    one, two = report({"one": 1, "two": 2}).arms
    shorter = type(two)(**{f: getattr(two, f) for f in two.__slots__ if f != "tasks"}, tasks=two.tasks[1:])
    found = [(place.name, place.arm.arm) for place in places([one, shorter], buckets=False)]
    assert found == [("chat", "one"), ("code", "one"), ("code", "two"), ("all", "one"), ("all", "two")]


def test_predicted_stands_beside_measured_and_the_one_that_decides_is_marked(report):
    """2 or 3 accepted: 3.5 tokens per round of 12 ms, a plain step 10 ms: 2.92 times; α = .1 at k = 4: 3.5/1.4."""
    (arm,) = report({"spec": 2}, costs=Costs(0.1, 0)).arms
    row = decision(places([arm], buckets=False)[0])
    assert row.measured.startswith("2.92 [")
    assert row.measured.endswith("]*")
    assert row.predicted.startswith("2.50 [")
    assert row.predicted.endswith("]")
    assert (row.verdict, row.basis, row.needs) == ("enable", "measured", "0.40")


@pytest.mark.parametrize(
    ("arms", "costs", "missing"),
    [
        ({"one": 1, "two": 2}, Costs(0.1, 0), set()),
        ({"one": 1, "two": 2}, None, {"needs", "predicted"}),
        ({"one": 1}, Costs(0.1, 0), {"arm"}),
    ],
)
def test_a_column_that_would_say_nothing_is_left_out(report, arms, costs, missing):
    rows = [decision(place) for place in places(report(arms, costs=costs).arms, buckets=False)]
    every = ["task", "arm", "n", "accepted", "p10", "needs", "measured", "predicted", "verdict", "basis", "flags"]
    assert columns(rows) == [name for name in every if name not in missing]


def test_each_run_has_its_own_arms_even_where_two_runs_share_an_id(report):
    one, two = report({"a": 1, "b": 2}), report({"a": 2})
    both = Document(runs=one.runs + two.runs, arms=one.arms + two.arms)
    assert [[arm.arm for arm in arms] for _, arms in tables(both)] == [["a", "b"], ["a"]]


def test_flags_are_numbered_in_the_order_of_the_closed_list(report):
    rows = [place.row for place in places(report({"one": 2}, n=3).arms, buckets=False)]
    assert {flag for row in rows for flag in row.flags} == {"thin", "length-shift"}
    assert flag_marks(rows) == {"thin": "¹", "length-shift": "²"}


def test_there_is_a_mark_for_every_flag():
    assert len(set(MARKS)) >= len(FLAGS)


def test_an_arm_of_which_nothing_is_known_is_its_name(report):
    (arm,) = report({"spec": 1}).arms
    assert title(arm) == "spec (method draft_model, k 4, draft tiny, temperature 0.0)"
    stopping = replace(arm, threshold=0.3, options={"early_exit": 20})
    assert (
        title(stopping) == "spec (method draft_model, k 4, threshold 0.3, early_exit 20, draft tiny, temperature 0.0)"
    )
    bare = type(arm)(
        **{f: getattr(arm, f) for f in arm.__slots__} | dict.fromkeys(("method", "k", "draft", "temperature"))
    )
    assert title(bare) == "spec"
