"""The reference values are plain loops over clusters with `math` and `scipy.stats`, a bootstrap, and a jackknife."""

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from specprof.analysis.estimate import Estimate
from specprof.analysis.intervals import ANY, COUNT, SHARE, median, ratio, ratio_of_ratios, widened

ROWS = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20), st.integers(0, 5)), min_size=2, max_size=30)


def reference(rows):
    sums = defaultdict(lambda: [0, 0])
    for x, y, cluster in rows:
        sums[cluster][0] += x
        sums[cluster][1] += y
    n = len(sums)
    total_x, total_y = sum(x for x, _ in sums.values()), sum(y for _, y in sums.values())
    r = total_x / total_y
    if n == 1:
        return r, None, None, n
    squares = sum((x - r * y) ** 2 for x, y in sums.values())
    half = stats.t.ppf(0.975, n - 1) * math.sqrt(n / (n - 1) * squares) / total_y
    return r, r - half, r + half, n


@given(ROWS)
def test_a_ratio_and_its_interval_equal_the_formula_written_as_a_loop(rows):
    value, low, high, n = reference(rows)
    estimate = ratio(*np.array(rows).T, bounds=ANY)
    assert estimate.value == pytest.approx(value)
    assert estimate.n == n
    if low is None:
        assert (estimate.low, estimate.high) == (None, None)
    else:
        assert (estimate.low, estimate.high) == (pytest.approx(low), pytest.approx(high))


def test_two_clusters_by_hand():
    # x 2 and 4 over y 2 and 2: r = 1.5, d = -1 and 1, var = 2 * 2 / 16 = 0.25, t_1 = 12.706
    estimate = ratio(np.array([2, 4]), np.array([2, 2]), np.array([0, 1]), bounds=ANY)
    assert estimate.value == 1.5
    assert estimate.high == pytest.approx(1.5 + 12.7062 * 0.5, abs=1e-3)
    assert estimate.low == pytest.approx(1.5 - 12.7062 * 0.5, abs=1e-3)


def test_bounds_stay_within_what_is_possible():
    x, y, cluster = np.array([0, 4]), np.array([4, 4]), np.array([0, 1])
    share, count = ratio(x, y, cluster, bounds=SHARE), ratio(x, y, cluster, bounds=COUNT)
    assert (share.low, share.high) == (0.0, 1.0)
    assert count.low == 0.0
    assert count.high > 1.0


def test_one_cluster_has_a_value_and_a_reason_but_no_interval():
    estimate = ratio(np.array([3, 4]), np.array([2, 2]), np.array([7, 7]))
    assert (estimate.value, estimate.low, estimate.high, estimate.n) == (1.75, None, None, 1)
    assert estimate.reason == "1 cluster: an interval needs at least 2"


def test_an_empty_denominator_has_no_value_and_says_why():
    nothing = np.array([], dtype=np.int64)
    assert ratio(nothing, nothing, nothing, empty="no rounds").reason == "no rounds"
    assert ratio(np.array([0, 0]), np.array([0, 0]), np.array([0, 1]), empty="no drafts").value is None


def test_equal_clusters_leave_no_spread():
    estimate = ratio(np.array([3, 3, 3]), np.array([2, 2, 2]), np.array([0, 1, 2]))
    assert (estimate.low, estimate.value, estimate.high, estimate.n) == (1.5, 1.5, 1.5, 3)


def test_a_cluster_that_adds_nothing_does_not_pass_for_evidence():
    alone = ratio(np.array([3, 0]), np.array([2, 0]), np.array([0, 1]))
    assert (alone.n, alone.low) == (1, None)


def test_the_interval_agrees_with_a_bootstrap_over_clusters():
    rng = np.random.default_rng(3)
    y = rng.integers(5, 15, 200)
    x = rng.binomial(4 * y, rng.beta(4, 4, 200))
    estimate = ratio(x, y, np.arange(200))
    picks = rng.integers(0, 200, (4000, 200))
    low, high = np.quantile(x[picks].sum(axis=1) / y[picks].sum(axis=1), [0.025, 0.975])
    width = estimate.high - estimate.low
    assert abs(estimate.low - low) < 0.1 * width
    assert abs(estimate.high - high) < 0.1 * width


def test_ninety_five_of_a_hundred_intervals_hold_the_true_mean():
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(400):
        rates = rng.binomial(20, rng.beta(3, 2, 50)) / 20
        estimate = ratio(rates, np.ones(50), np.arange(50))
        hits += estimate.low <= 0.6 <= estimate.high
    assert 0.92 <= hits / 400 <= 0.98


def jackknife(columns):
    """Delete-one-cluster interval of (a/b)/(c/d)."""
    n = columns.shape[1]
    value = lambda c: c[0].sum() / c[1].sum() / (c[2].sum() / c[3].sum())  # noqa: E731
    left_out = np.array([value(np.delete(columns, i, axis=1)) for i in range(n)])
    error = math.sqrt((n - 1) / n * np.square(left_out - left_out.mean()).sum())
    half = stats.t.ppf(0.975, n - 1) * error
    return value(columns) - half, value(columns) + half


def test_a_ratio_of_ratios_agrees_with_the_jackknife():
    rng = np.random.default_rng(5)
    tokens = rng.integers(50, 100, (2, 120)).astype(float)
    columns = np.array([tokens[0] * rng.normal(20, 1, 120), tokens[0], tokens[1] * rng.normal(10, 1, 120), tokens[1]])
    estimate = ratio_of_ratios(*columns, np.arange(120), empty="nothing")
    low, high = jackknife(columns)
    width = high - low
    assert estimate.value == pytest.approx(2.0, rel=0.03)
    assert abs(estimate.low - low) < 0.03 * width
    assert abs(estimate.high - high) < 0.03 * width


def test_a_ratio_of_ratios_needs_all_four_sums():
    one, zero = np.array([1, 1]), np.array([0, 0])
    assert ratio_of_ratios(one, one, one, zero, np.array([0, 1]), empty="no tokens").reason == "no tokens"


def test_rows_of_one_cluster_may_come_apart():
    """Baseline rows and speculative rows of one prompt are different rows of one cluster."""
    a, b, c, d = np.array([[8, 6, 0, 0], [2, 2, 0, 0], [0, 0, 3, 3], [0, 0, 2, 2]])
    apart = ratio_of_ratios(a, b, c, d, np.array([0, 1, 0, 1]), empty="nothing")
    joined = ratio_of_ratios(*np.array([[8, 6], [2, 2], [3, 3], [2, 2]]), np.array([0, 1]), empty="nothing")
    assert apart == joined
    assert apart.value == pytest.approx((14 / 4) / (6 / 4))


@pytest.mark.parametrize(("n", "low", "high"), [(6, 1, 6), (8, 1, 8), (9, 2, 8), (14, 3, 12), (20, 6, 15)])
def test_the_interval_of_a_median_ends_at_the_published_ranks(n, low, high):
    """Ranks from the usual table of sign-test intervals at 95 %."""
    values = np.random.default_rng(n).permutation(np.arange(1, n + 1))
    found = median(values.tolist())
    assert (found.value, found.low, found.high, found.n) == ((n + 1) / 2, low, high, n)


def test_a_median_of_five_has_no_interval():
    assert median([5, 1, 3, 2, 4]) == Estimate(3.0, n=5, reason="the interval of a median needs 6 repeats")


def test_independent_errors_add_in_quadrature():
    assert widened(Estimate(10.0, 7.0, 13.0, 20), 4.0) == Estimate(10.0, 5.0, 15.0, 20)
    assert widened(Estimate(1.0, 0.7, 1.3, 20), 4.0).low == 0
    assert widened(Estimate(1.0, 0.7, 1.3, 20), 0.0) == Estimate(1.0, 0.7, 1.3, 20)


def test_an_error_of_unknown_size_leaves_no_interval():
    found = widened(Estimate(1.0, 0.7, 1.3, 20), float("nan"))
    assert (found.value, found.low, found.high, found.reason) == (
        *(1.0, None, None, "the costs rest on 1 repeat: their spread is unknown"),
    )
    alone = Estimate(1.0, n=1, reason="1 cluster: an interval needs at least 2")
    assert widened(alone, 0.5) == alone
