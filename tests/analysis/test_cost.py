import numpy as np
import pytest

from specprof.analysis.cost import Costs


def test_a_table_of_widths_is_read_between_and_beyond_its_entries():
    costs = Costs(alpha=0, beta=0, widths=((4, 1.2), (1, 0.9)))
    assert costs.verify(np.array([0, 1, 2, 4, 7])) == pytest.approx([1, 0.9, 1.0, 1.2, 1.5])
    assert costs.slope(4) == pytest.approx(0.2 / 4)
    assert costs.slope(1) == pytest.approx(-0.1)


def test_a_negative_beta_is_taken_as_it_is():
    assert Costs(alpha=0, beta=-0.14).verify(np.array([1])) == pytest.approx([0.86])
