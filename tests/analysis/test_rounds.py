import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from specprof.analysis.rounds import total_per_request


def test_an_empty_stretch_sums_to_nothing():
    assert total_per_request(np.array([1, 2, 3]), np.array([0, 2, 0, 1, 0])).tolist() == [0, 3, 0, 3, 0]


@given(st.lists(st.lists(st.integers(-5, 5), max_size=6), max_size=8))
def test_sums_equal_those_of_python(stretches):
    flat = np.array([x for stretch in stretches for x in stretch], dtype=np.int64)
    lengths = np.array([len(stretch) for stretch in stretches], dtype=np.int64)
    assert total_per_request(flat, lengths).tolist() == [sum(stretch) for stretch in stretches]
