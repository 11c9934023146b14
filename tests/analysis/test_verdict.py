import pytest

from specprof.analysis.estimate import Estimate
from specprof.analysis.verdict import decide, judge, what_would_settle


def speed(low, high, n=50):
    return Estimate((low + high) / 2, low, high, n)


WIN, LOSE, EVEN, OPEN = speed(1.2, 1.4), speed(0.5, 0.7), speed(0.99, 1.01), speed(0.8, 1.4)
FEW = speed(0.8, 1.4, n=5)


@pytest.mark.parametrize(
    ("speedup", "verdict"), [(WIN, "enable"), (LOSE, "disable"), (EVEN, "neutral"), (OPEN, "undecided")]
)
def test_the_interval_decides(speedup, verdict):
    assert decide(speedup, 0.02) == verdict


def test_the_margin_belongs_to_neither_side():
    assert decide(speed(1.02, 1.3), 0.02) == "undecided"
    assert decide(speed(0.7, 0.98), 0.02) == "undecided"
    assert decide(speed(0.98, 1.02), 0.02) == "neutral"


def test_without_an_interval_nothing_is_decided():
    assert decide(Estimate(3.0, n=1, reason="1 cluster"), 0.02) == "undecided"


@pytest.mark.parametrize(
    ("measured", "cost", "expected"),
    [
        (WIN, LOSE, ("enable", "measured")),  # the measured pair goes first
        (speed(1.2, 1.4, n=5), LOSE, ("enable", "measured")),  # few, but settled
        (FEW, LOSE, ("disable", "cost")),  # few and open: the model decides
        (FEW, OPEN, ("undecided", "cost")),
        (FEW, None, ("undecided", "measured")),
        (OPEN, WIN, ("undecided", "measured")),  # enough clusters to believe that it is open
        (None, WIN, ("enable", "cost")),
        (None, OPEN, ("undecided", "cost")),
        (Estimate.missing("no pair"), WIN, ("enable", "cost")),
        (None, None, ("unpriced", None)),
        (Estimate.missing("no pair"), None, ("unpriced", None)),
    ],
)
def test_the_basis_of_a_verdict(measured, cost, expected):
    assert judge(measured, cost) == expected


def test_the_model_needs_a_wider_margin_than_the_measurement():
    near = speed(1.03, 1.10)
    assert judge(near, None)[0] == "enable"
    assert judge(None, near)[0] == "undecided"


def test_how_many_clusters_would_settle_it_is_counted_to_the_margin():
    # half-width 1, .25 away from 1.25: sixteen times the clusters, so 15 · 10 more
    assert what_would_settle(Estimate(1.5, 0.5, 2.5, 10), 0.25) == (
        "about 150 more clusters would settle it at this spread"
    )


def test_a_speedup_on_the_margin_is_never_settled():
    assert "no number of clusters" in what_would_settle(Estimate(0.5, 0.25, 0.75, 10), 0.5)


def test_a_missing_interval_is_explained():
    assert what_would_settle(Estimate.missing("no rounds"), 0.05) == "no interval for the speed-up: no rounds"
