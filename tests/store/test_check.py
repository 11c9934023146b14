import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specprof.records import Request, Round
from specprof.store.check import CHECKED, problem
from specprof.store.schema import SCHEMA, rows

small = st.integers(-1, 3)
some_rounds = st.lists(
    st.builds(Round, *[small] * 4, width=st.none() | small, accepted_raw=st.none() | small), max_size=3
)


@pytest.fixture
def table(request_of):
    return rows([request_of(1), request_of(2, rounds=()), request_of(3)])


def replaced(table, name, values):
    at = table.column_names.index(name)
    return table.set_column(at, SCHEMA.field(name).with_nullable(True), pa.array(values, SCHEMA.field(name).type))


def test_a_sound_table_has_no_problem(table):
    assert problem(table) is None
    assert problem(table.select(CHECKED)) is None
    assert problem(table.slice(0, 0)) is None


def test_a_table_in_many_pieces_is_checked_as_one(table, request_of):
    assert problem(pa.concat_tables([table.slice(1), table.slice(0, 1)])) is None
    broken = rows([request_of(8), request_of(9, rounds=(Round(5, 5, 3, 4), Round(5, 5, 6, 6)))])
    assert "`r9`, round 1" in problem(pa.concat_tables([table.slice(1, 1), broken.slice(1)]))


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("accepted", [[3, 5], [], [6, 5]], "request `r3`, round 0: accepted is outside 0..drafted"),
        ("accepted", [[3, -1], [], [3, 5]], "request `r1`, round 1: accepted is outside 0..drafted"),
        ("drafted", [[5, 5], [], [5, 6]], "request `r3`, round 1: drafted exceeds proposed"),
        ("proposed", [[5, 5], [], [5, 4097]], "request `r3`, round 1: proposed exceeds 4096"),
        ("emitted", [[5, 5], [], [4, 5]], "request `r1`, round 0: emitted is outside accepted..accepted + 1"),
        ("emitted", [[4, 5], [], [3, 5]], "request `r3`, round 0: cut inside its accepted tokens"),
        ("width", [None, [], [5, 4]], "request `r3`, round 1: width is below drafted"),
        ("accepted_raw", [None, None, [2, None]], "request `r3`, round 0: accepted_raw is below accepted"),
        ("draft_us", [None, None, [1]], "request `r3`: `draft_us` has 1 entries, `rounds` is 2"),
        ("draft_ids", [[1] * 10, None, [1] * 9], "request `r3`: `draft_ids` has 9 entries, `proposed_total` is 10"),
        ("rounds", [2, 1, 2], "request `r2`: `"),
        ("accepted_total", [8, 0, 9], "request `r3`: `accepted_total` is 9, its rounds add up to 8"),
        ("regenerations", [0, 0, 1], "request `r1`: `regenerations` is 0, its rounds add up to 1"),
        ("task", ["code", None, "code"], "column `task` has empty cells"),
        ("accepted", [[3, 5], [], [3, None]], "column `accepted` has rounds without a value"),
    ],
)
def test_each_broken_identity_is_named_with_its_request(table, name, values, expected):
    assert problem(replaced(table, name, values)).startswith(expected)


@given(st.lists(some_rounds, min_size=1, max_size=4))
def test_the_columns_judge_as_the_record_does(batches):
    requests = [Request(f"r{n}", "p", "sd", "code", 1, 1, rounds=tuple(rounds)) for n, rounds in enumerate(batches)]
    assert (problem(rows(requests)) is None) == all(request.problem() is None for request in requests)
