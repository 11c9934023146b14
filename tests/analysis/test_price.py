import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specprof.analysis.cost import Costs
from specprof.analysis.price import beyond, calibration_error, price, prices, regime_of, verify_weights
from specprof.records import Round


def test_the_cost_of_hand_made_rounds(frame, request_):
    """v = 1 + .02·w; .1 per proposed token, .05 where the drafter ran, .01 per round."""
    rounds = (Round(5, 4, 4, 5, width=6, drafter_ran=True), Round(0, 0, 0, 1, drafter_ran=True), Round(0, 0, 0, 1))
    costs = Costs(alpha=0.1, beta=0.02, alpha_round=0.05, phi=0.01)
    expected = (1 + 0.12 + 0.5 + 0.05 + 0.01) + (1 + 0.05 + 0.01) + (1 + 0.01)
    assert price(frame(request_("a", rounds=rounds)), [costs]).cost == pytest.approx([expected])


def test_a_table_prices_each_round_by_its_own_width(frame, request_):
    costs = Costs(alpha=0, beta=0, widths=((1, 1.0), (3, 2.0)))
    mixed = frame(request_("a", [1, 3, 0], [0, 0, 0]), request_("b"), request_("c", [2], [0]))
    assert price(mixed, [costs]).cost == pytest.approx([4.0, 0.0, 1.5])


def test_a_straight_table_equals_its_slope(frame, request_):
    sample = frame(request_("a", [1, 3, 6], [0, 2, 6]), request_("b", [2], [1]))
    table = Costs(alpha=0.1, beta=0, widths=((2, 1.1), (4, 1.2)))
    assert price(sample, [table]).cost == pytest.approx(price(sample, [Costs(alpha=0.1, beta=0.05)]).cost)


@given(
    st.dictionaries(st.integers(1, 12), st.floats(-1, 5), min_size=1, max_size=5),
    st.lists(st.integers(0, 40), min_size=1, max_size=8),
)
def test_mixing_the_table_is_reading_it(table, widths):
    costs, width = Costs(0, 0, widths=tuple(table.items())), np.array(widths)
    mixed = verify_weights(costs, width).T @ prices(costs)[3:]
    assert mixed == pytest.approx(costs.verify(width), abs=1e-9)


def test_a_request_is_priced_by_the_context_nearest_to_the_middle_of_its_answer(frame, request_):
    """On a log scale 200 and 800 part at 400: 380 + 30/2 lies below, 390 + 30/2 above."""
    regimes = [Costs(0.1, 0, context=200), Costs(0.3, 0, context=800)]
    below, above = (
        request_(name, [1], [0], prompt_tokens=tokens, response_tokens=30) for name, tokens in (("a", 380), ("b", 390))
    )
    sample = frame(below, above)
    assert regime_of(sample, regimes).tolist() == [0, 1]
    assert price(sample, regimes).cost == pytest.approx([1.1, 1.3])


def test_the_regimes_of_a_row_are_named_in_order(frame, request_):
    regimes = [Costs(0, 0, regime=f"context {context}", context=context) for context in (10, 100, 1000)]
    sample = frame(request_("a", [1], [0], prompt_tokens=2000), request_("b", [1], [0], prompt_tokens=1))
    assert price(sample, regimes).regime == "context 10, context 1000"
    assert price(sample.take(np.array([1])), regimes).regime == "context 10"
    assert price(frame(), regimes).regime == "context 10"


def test_contexts_measured_next_to_each_other_are_resampled_alike():
    """What one repeat adds at one context it takes away at the other: the sum is certain."""
    low = Costs(0, 0, repeats=tuple(Costs(alpha, 0) for alpha in (0.1, 0.2, 0.4)))
    high = Costs(0, 0, repeats=tuple(Costs(-alpha, 0) for alpha in (0.1, 0.2, 0.4)))
    once = np.array([1.0, 0, 0, 0, 0])
    assert calibration_error([(low, once), (high, once)]) == pytest.approx(0, abs=1e-12)
    assert calibration_error([(low, once)]) > 0.1


def test_given_costs_have_no_error_beside_measured_ones():
    measured = Costs(0, 0, repeats=(Costs(0.1, 0), Costs(0.2, 0)))
    loads = np.array([1.0, 0, 0, 0, 0])
    assert calibration_error([(Costs(0.1, 0), loads)]) == 0
    assert calibration_error([(Costs(9, 0), loads), (measured, loads)]) == calibration_error([(measured, loads)])


def test_where_one_length_was_timed_a_longer_draft_has_no_price(frame, request_):
    """`b` never drafts more than the 2 tokens that were timed, `a` does once."""
    one_length, both = Costs(0, 0, alpha_round=0.2, longest=2), Costs(0.1, 0)
    long, short = frame(request_("a", [1, 3], [0, 0])), frame(request_("b", [1, 2], [0, 0]))
    assert beyond(long, [both, one_length]) == "drafts of up to 3 tokens have no price: none longer than 2 was timed"
    assert beyond(short, [both, one_length]) is None
    assert beyond(long, [both]) is None
    assert beyond(frame(), [one_length]) is None
