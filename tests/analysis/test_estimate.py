import pytest

from specprof.analysis.estimate import Estimate, clusters_to_settle


def test_an_interval_is_above_a_bound_only_with_its_low_end():
    assert Estimate(1.2, 1.1, 1.3, 5).above(1.0) is True
    assert Estimate(1.2, 1.0, 1.4, 5).above(1.0) is None
    assert Estimate(0.9, 0.8, 1.0, 5).above(1.0) is False


def test_without_an_interval_nothing_is_above_or_below():
    assert Estimate(9.0, reason="1 cluster").above(1.0) is None


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_json_cannot_hold_is_missing_with_a_reason(value):
    estimate = Estimate.point(value, 3, "no interval")
    assert estimate.value is None
    assert estimate.reason


def test_half_the_half_width_needs_four_times_the_clusters():
    assert clusters_to_settle(Estimate(1.5, 0.5, 2.5, 10), bound=1.0) == 30


def test_a_value_on_the_bound_is_never_settled():
    assert clusters_to_settle(Estimate(1.0, 0.5, 1.5, 10), bound=1.0) is None


def test_without_an_interval_nothing_can_be_said_about_more_clusters():
    assert clusters_to_settle(Estimate(1.5, n=1, reason="1 cluster"), bound=1.0) is None
