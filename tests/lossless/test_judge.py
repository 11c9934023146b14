import pytest

from specprof.analysis.estimate import Estimate
from specprof.lossless.chi_square import ChiSquare
from specprof.lossless.greedy import Divergence, Greedy
from specprof.lossless.judge import corrected, judge_greedy, judge_sampled, void
from specprof.lossless.sampling import Check

KEPT, NOTHING = {"drafted": 90, "accepted": 30}, {"drafted": 90, "accepted": 0}
SURE = Estimate(1.0, 0.9, 1.0, 40)


def greedy(*judgements, detectable=0.05):
    places = tuple(Divergence("p", 3, 1, 2, judgement=judgement) for judgement in judgements)
    return Greedy(SURE, SURE, SURE, detectable, places)


def first(p, n=100_000.0, reason=None):
    return Check("first", p, ChiSquare(statistic=1.0, df=3, n=n, places=1), reason=reason)


def test_rounding_alone_does_not_make_an_arm_lossy():
    assert judge_greedy(greedy("numerics", "numerics"), KEPT).outcome == "lossless"


def test_one_bug_makes_it_lossy_even_where_nothing_was_kept():
    assert judge_greedy(greedy("numerics", "bug", "unjudged"), NOTHING).outcome == "lossy"


@pytest.mark.parametrize(
    ("found", "drafted", "word"),
    [
        (greedy("unjudged"), KEPT, "logits there are not known"),
        (greedy(), NOTHING, "plain decoding"),
        (greedy(detectable=0.2), KEPT, "16 would show"),
    ],
)
def test_what_could_not_fail_is_inconclusive(found, drafted, word):
    verdict = judge_greedy(found, drafted)
    assert verdict.outcome == "inconclusive"
    assert word in verdict.evidence[0]


def test_a_p_value_must_survive_the_correction_for_all_arms():
    """.004 alone is below 1 %, but not the smallest of three: 3 × .004 = .012."""
    alone = corrected({"a": [first(0.004)]})
    together = corrected({"a": [first(0.004)], "b": [first(0.5)], "c": [first(0.5)]})
    assert judge_sampled(alone["a"], KEPT).outcome == "lossy"
    assert together["a"][0].p_holm == pytest.approx(0.012)
    assert judge_sampled(together["a"], KEPT).outcome == "lossless"


def test_void_tests_neither_count_nor_correct():
    off = void([first(1e-9)], control=[first(1e-9)])
    tests = corrected({"a": off, "b": [first(0.009)]})
    assert tests["a"][0].p_holm is None
    assert tests["b"][0].p_holm == pytest.approx(0.009)
    assert judge_sampled(tests["a"], KEPT).outcome == "inconclusive"


def test_a_baseline_that_passes_voids_nothing():
    assert void([first(1e-9)], control=[first(0.3)])[0].counts


def test_a_blunt_test_passes_nobody():
    (test,) = corrected({"a": [first(0.5, n=50.0)]})["a"]
    verdict = judge_sampled([test], KEPT)
    assert verdict.outcome == "inconclusive"
    assert f"below {test.detectable:.2f}" in verdict.evidence[0]
    assert judge_sampled([test], KEPT, resolution=0.9).outcome == "lossless"
