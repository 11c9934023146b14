import numpy as np
import pytest

from specprof.analysis.cost import Costs, request_costs
from specprof.errors import UsageError
from specprof.records import Round


def test_the_cost_of_hand_made_rounds(frame, request_):
    """v = 1 + .02·w; .1 per proposed token, .05 where the drafter ran, .01 per round."""
    rounds = (Round(5, 4, 4, 5, width=6, drafter_ran=True), Round(0, 0, 0, 1, drafter_ran=True), Round(0, 0, 0, 1))
    costs = Costs(alpha=0.1, beta=0.02, alpha_round=0.05, phi=0.01)
    expected = (1 + 0.12 + 0.5 + 0.05 + 0.01) + (1 + 0.05 + 0.01) + (1 + 0.01)
    assert request_costs(frame(request_("a", rounds=rounds)), costs) == pytest.approx([expected])


def test_a_table_of_widths_is_read_between_and_beyond_its_entries():
    costs = Costs(alpha=0, beta=0, widths=((4, 1.2), (1, 0.9)))
    assert costs.verify(np.array([0, 1, 2, 4, 7])) == pytest.approx([1, 0.9, 1.0, 1.2, 1.5])
    assert costs.slope(4) == pytest.approx(0.2 / 4)
    assert costs.slope(1) == pytest.approx(-0.1)


def test_a_table_prices_each_round_by_its_own_width(frame, request_):
    costs = Costs(alpha=0, beta=0, widths=((1, 1.0), (3, 2.0)))
    mixed = frame(request_("a", [1, 3, 0], [0, 0, 0]), request_("b"), request_("c", [2], [0]))
    assert request_costs(mixed, costs) == pytest.approx([4.0, 0.0, 1.5])


def test_a_straight_table_equals_its_slope(frame, request_):
    sample = frame(request_("a", [1, 3, 6], [0, 2, 6]), request_("b", [2], [1]))
    table = Costs(alpha=0.1, beta=0, widths=((2, 1.1), (4, 1.2)))
    assert request_costs(sample, table) == pytest.approx(request_costs(sample, Costs(alpha=0.1, beta=0.05)))


@pytest.mark.parametrize(("name", "value"), [("alpha", -0.1), ("phi", float("nan")), ("beta", float("inf"))])
def test_a_cost_that_cannot_be_is_refused_by_its_flag(name, value):
    with pytest.raises(UsageError, match=f"`--{name} {value}` is no cost"):
        Costs(**({"alpha": 0.1, "beta": 0.1} | {name: value}))


def test_a_negative_beta_is_taken_as_it_is():
    assert Costs(alpha=0, beta=-0.14).verify(np.array([1])) == pytest.approx([0.86])
