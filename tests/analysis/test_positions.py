import pytest
from hypothesis import given
from hypothesis import strategies as st

from specprof.analysis.positions import count_positions, survival


def hazards(frame):
    positions = count_positions(frame.rounds)
    return positions.passed.tolist(), positions.reached.tolist()


def test_a_position_is_divided_by_the_rounds_that_reached_it(frame, request_):
    """(k, a): (3, 3), (3, 1), (1, 1), (2, 0). Position 1: 3 of 4; 2: 1 of 2 (one drafted no second); 3: 1 of 1."""
    assert hazards(frame(request_("a", [3, 3, 1, 2], [3, 1, 1, 0]))) == ([3, 1, 1], [4, 2, 1])


def test_a_censored_round_counts_up_to_its_cut_and_leaves_there(frame, request_):
    """The last round drafts 3 and is cut after 1: position 1 was accepted, position 2 was never decided."""
    cut = frame(request_("a", [3, 3], [3, 1], emitted=[4, 1]))
    assert hazards(cut) == ([2, 1, 1], [2, 1, 1])
    open = frame(request_("a", [3, 3], [3, 1], emitted=[4, 2]))
    assert hazards(open) == ([2, 1, 1], [2, 2, 1])


def test_survival_is_the_product_of_the_hazards(frame, request_):
    sample = frame(request_("a", [3, 3, 1, 2], [3, 1, 1, 0]))
    assert [s.value for s in survival(sample, count_positions(sample.rounds))] == [0.75, 0.375, 0.375]


def test_survival_stays_at_zero_and_is_unknown_where_nobody_arrived(frame, request_):
    rejected = frame(request_("a", [3], [0]))
    assert [s.value for s in survival(rejected, count_positions(rejected.rounds))] == [0, 0, 0]
    cut = frame(request_("a", [3], [1], emitted=[1]))
    first, second, third = survival(cut, count_positions(cut.rounds))
    assert first.value == 1
    assert second.value is third.value is None
    assert second.reason == "no round reached position 2"


def test_without_a_draft_there_is_no_position(frame, request_):
    idle = frame(request_("a", [0], [0]))
    assert survival(idle, count_positions(idle.rounds)) == ()


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_with_fixed_k_survival_is_the_share_of_rounds_that_accepted_so_many(frame, request_, accepted):
    sample = frame(request_("a", [4] * len(accepted), accepted))
    shares = [sum(a >= j for a in accepted) / len(accepted) for j in range(1, 5)]
    assert [s.value for s in survival(sample, count_positions(sample.rounds))] == pytest.approx(shares)


@given(st.lists(st.integers(0, 4).flatmap(lambda k: st.tuples(st.just(k), st.integers(0, k))), min_size=1, max_size=30))
def test_accepted_tokens_are_the_sum_over_positions(frame, request_, rounds):
    drafted, accepted = zip(*rounds, strict=True)
    assert sum(hazards(frame(request_("a", drafted, accepted)))[0]) == sum(accepted)
