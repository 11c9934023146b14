import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from specprof.lossless.difference import holm, paired


def test_one_prompt_is_a_t_test_of_two_samples():
    """With as many answers on both sides Welch's error is Student's, and the degrees are those of both sides."""
    a, b = np.arange(30.0), np.arange(30.0) * 1.3 + 2
    found = paired([(a, b)])
    assert found.mean.value == pytest.approx(a.mean() - b.mean())
    assert found.p == pytest.approx(ttest_ind(a, b).pvalue)


def test_prompts_that_differ_from_each_other_do_not_hide_a_difference_within():
    """Lengths 10 and 1,000 ± ½: a shift of 2 in both is certain, though the prompts are 990 apart."""
    wave = np.array([-0.5, 0.5] * 10)
    found = paired([(wave + 10, wave + 8), (wave + 1000, wave + 998)])
    assert (found.mean.value, found.mean.n) == (2, 2)
    assert found.p < 1e-20


def test_the_same_constant_tests_nothing_and_another_constant_is_certain():
    assert paired([([8.0] * 20, [8.0] * 20)]).p is None
    assert paired([([8.0] * 20, [9.0] * 20)]).p == 0.0


def test_a_prompt_with_few_answers_is_left_out():
    found = paired([([8.0] * 19, [9.0] * 19)])
    assert found.p is None
    assert "20 answers" in found.mean.reason


def test_holm_by_hand():
    """.01·3, .02·2, then .04 may not fall below its predecessor's .04."""
    assert holm({"a": 0.02, "b": 0.01, "c": 0.04}) == pytest.approx({"a": 0.04, "b": 0.03, "c": 0.04})


def test_holm_never_exceeds_1():
    assert holm({"a": 0.7, "b": 0.9}) == {"a": 1.0, "b": 1.0}


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), min_size=1))
def test_holm_keeps_the_order_and_lies_between_p_and_bonferroni(p_values):
    adjusted = holm(p_values)
    assert all(p <= adjusted[name] <= min(1.0, len(p_values) * max(p_values.values())) for name, p in p_values.items())
    assert min(adjusted.values()) == pytest.approx(min(1.0, len(p_values) * min(p_values.values())))
    ordered = sorted(p_values, key=p_values.__getitem__)
    assert [adjusted[name] for name in ordered] == sorted(adjusted.values())
