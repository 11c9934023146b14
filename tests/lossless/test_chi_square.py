import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, chisquare

from specprof.lossless.chi_square import ChiSquare, goodness_of_fit, homogeneity

HALVES = np.array([0.5, 0.5])


def test_a_coin_that_shows_60_of_100():
    """(60 − 50)²/50 + (40 − 50)²/50 = 4; half of |.6 − .5| + |.4 − .5| = .1."""
    found = goodness_of_fit({0: 60, 1: 40}, HALVES)
    assert (found.statistic, found.df, found.n, found.distance) == pytest.approx((4, 1, 100, 0.1))
    assert found.p == pytest.approx(0.0455, abs=1e-4)


def test_chance_is_the_mean_total_variation_of_an_honest_coin():
    """Its distance is |X − 50|/100, and E|X − 50| = 50·C(100, 50)/2¹⁰⁰ = 3.98 for a binomial X."""
    assert goodness_of_fit({0: 50, 1: 50}, HALVES).chance == pytest.approx(0.0398, abs=2e-4)


def test_rare_tokens_share_a_cell():
    """Expected 80, 10, 4, 4, 2 of 100: the last three make one cell of 10."""
    found = goodness_of_fit({0: 80, 1: 10, 4: 10}, np.array([0.8, 0.1, 0.04, 0.04, 0.02]))
    assert (found.statistic, found.df) == pytest.approx((0, 2))


def test_a_rest_that_is_still_too_rare_joins_the_rarest_cell():
    """Expected 48, 48, 4: two cells, of 48 and of 52."""
    found = goodness_of_fit({0: 48, 1: 40, 2: 12}, np.array([0.48, 0.48, 0.04]))
    assert (found.statistic, found.df) == pytest.approx((0, 1))


def test_a_place_with_one_likely_token_tests_nothing():
    found = goodness_of_fit({0: 100}, np.array([0.99, 0.01]))
    assert (found.df, found.places, found.p) == (0, 0, 1.0)
    assert found.detectable(0.01) == 1.0


def test_no_answers_test_nothing():
    assert goodness_of_fit({}, HALVES) == ChiSquare()
    assert homogeneity({}, {1: 9}) == ChiSquare()


@given(st.lists(st.integers(5, 60), min_size=2, max_size=6))
def test_goodness_of_fit_is_scipys(counts):
    uniform = np.full(len(counts), 1 / len(counts))
    found = goodness_of_fit(dict(enumerate(counts)), uniform)
    assert (found.statistic, found.p) == pytest.approx(tuple(chisquare(counts)))


@given(st.lists(st.tuples(st.integers(20, 60), st.integers(20, 60)), min_size=2, max_size=5))
def test_homogeneity_is_scipys(pairs):
    ours, theirs = (dict(enumerate(column)) for column in zip(*pairs, strict=True))
    found = homogeneity(ours, theirs)
    expected = chi2_contingency(np.array(pairs).T, correction=False)
    assert (found.statistic, found.df, found.p) == pytest.approx((expected.statistic, expected.dof, expected.pvalue))


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=2, max_size=8))
def test_two_samples_can_be_swapped(pairs):
    ours, theirs = (dict(enumerate(column)) for column in zip(*pairs, strict=True))
    one, other = homogeneity(ours, theirs), homogeneity(theirs, ours)
    assert (one.statistic, one.df, one.n) == pytest.approx((other.statistic, other.df, other.n))


def test_places_add_up_and_their_distances_are_weighed_by_tokens():
    one, other = goodness_of_fit({0: 60, 1: 40}, HALVES), goodness_of_fit({0: 150, 1: 150}, HALVES)
    total = one + other
    assert (total.statistic, total.df, total.n, total.places) == pytest.approx((4, 2, 400, 2))
    assert total.distance == pytest.approx(0.025)


def test_the_power_is_what_it_says():
    """A fault of exactly the detectable size, |Δ| ∝ p, is found in 80 % of 2,000 simulated samples."""
    n, level, cells = 400, 0.01, np.full(4, 0.25)
    reach = goodness_of_fit(dict.fromkeys(range(4), n // 4), cells).detectable(level)
    faulty = cells * (1 + 2 * reach * np.array([1, 1, -1, -1]))
    draws = np.random.default_rng(1).multinomial(n, faulty, size=2000)
    found = np.mean([goodness_of_fit(dict(enumerate(draw)), cells).p < level for draw in draws])
    assert found == pytest.approx(0.8, abs=0.03)


def test_a_lossless_arm_is_seldom_blamed():
    """2,000 samples of a distribution with a long tail, tested at 1 %: the false alarms are near 1 %."""
    p = 0.7 ** np.arange(30) * 0.3
    p /= p.sum()
    draws = np.random.default_rng(2).multinomial(200, p, size=2000)
    alarms = np.mean([goodness_of_fit(dict(enumerate(draw)), p).p < 0.01 for draw in draws])
    assert 0.004 < alarms < 0.018
