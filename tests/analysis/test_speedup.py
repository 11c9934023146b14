import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specprof.analysis import metrics, speedup
from specprof.analysis.calibration import costs_from
from specprof.analysis.cost import Costs
from specprof.analysis.price import price
from specprof.records import CostSample, Round


def priced(figure, sample, *costs):
    return figure(sample, price(sample, costs))


SHARE = st.floats(0, 1)
CHAINS = st.integers(1, 6).flatmap(
    lambda k: st.tuples(
        st.just(k), st.lists(st.lists(st.integers(0, k), min_size=1, max_size=5), min_size=1, max_size=5)
    )
)

# The table of the design: k = 5; α, β; rule and cost threshold; S at a mean of 5, 3.5, 2, 1 and 0 accepted tokens.
TABLE = [
    (0.05, 0.01, 1.06, 0.30, [4.62, 3.46, 2.31, 1.54, 0.77]),
    (0.10, 0.02, 1.12, 0.60, [3.75, 2.81, 1.88, 1.25, 0.62]),
    (0.33, 0.40, 1.73, 3.65, [1.29, 0.97, 0.65, 0.43, 0.22]),
]
ROUNDS = [[5, 5], [3, 4], [2, 2], [1, 1], [0, 0]]


@pytest.mark.parametrize(("alpha", "beta", "rule", "cost", "speedups"), TABLE)
def test_the_published_table(frame, request_, alpha, beta, rule, cost, speedups):
    costs = Costs(alpha=alpha, beta=beta)
    for accepted, expected in zip(ROUNDS, speedups, strict=True):
        sample = frame(request_("a", [5, 5], accepted))
        assert priced(speedup.speedup, sample, costs).value == pytest.approx(expected, abs=0.0051)
        assert priced(speedup.rule_threshold, sample, costs).value == pytest.approx(rule)
        assert priced(speedup.cost_threshold, sample, costs).value == pytest.approx(cost)


def chain(frame, request_, drawn):
    k, accepted = drawn
    return k, frame(*(request_(f"r{i}", [k] * len(a), a) for i, a in enumerate(accepted)))


@given(CHAINS, SHARE, SHARE, SHARE, SHARE)
def test_a_full_chain_has_the_closed_form(frame, request_, drawn, alpha, beta, alpha_round, phi):
    k, sample = chain(frame, request_, drawn)
    costs = Costs(alpha, beta, alpha_round, phi)
    mean = metrics.mean_accepted(sample).value
    overhead = k * (alpha + beta) + alpha_round + phi
    assert priced(speedup.speedup, sample, costs).value == pytest.approx((mean + 1) / (1 + overhead))
    assert priced(speedup.cost_threshold, sample, costs).value == pytest.approx(overhead, abs=1e-9)
    assert priced(speedup.cost_per_round, sample, costs).value == pytest.approx(1 + overhead)


ANY_ROUND = st.integers(0, 4).flatmap(lambda k: st.tuples(st.just(k), st.integers(0, k)))


@given(st.lists(st.lists(ANY_ROUND, min_size=1, max_size=5), min_size=1, max_size=5), SHARE, SHARE)
def test_mean_accepted_above_the_cost_threshold_is_a_speedup_above_one(frame, request_, drawn, alpha, beta):
    requests = []
    for i, rounds in enumerate(drawn):
        drafted, accepted = zip(*rounds, strict=True)
        emitted = [a + 1 for a in accepted]
        emitted[-1] = accepted[-1]  # the last round is cut
        requests.append(request_(f"r{i}", drafted, accepted, emitted=emitted))
    sample, costs = frame(*requests), Costs(alpha, beta)
    margin = metrics.mean_accepted(sample).value - priced(speedup.cost_threshold, sample, costs).value
    gain = priced(speedup.speedup, sample, costs).value - 1
    cost = priced(speedup.cost_per_round, sample, costs).value
    assert margin == pytest.approx(gain * cost, abs=1e-9)


@given(st.integers(2, 12), SHARE, st.floats(0, 0.4), st.floats(0, 0.4))
def test_rule_and_cost_thresholds_meet_where_the_design_says(frame, request_, k, split, alpha_round, phi):
    total = (1 - alpha_round - phi) / (k - 1)
    costs = Costs(split * total, (1 - split) * total, alpha_round, phi)
    sample = frame(request_("a", [k, k], [1, 0]))
    assert priced(speedup.rule_threshold, sample, costs).value == pytest.approx(
        priced(speedup.cost_threshold, sample, costs).value
    )


def test_with_a_table_beta_is_the_slope_at_the_mean_width_of_drafting_rounds(frame, request_):
    costs = Costs(alpha=0.1, beta=0, widths=((2, 1.1), (4, 1.4)))
    sample = frame(request_("a", [4, 2, 0], [0, 0, 0]))
    assert priced(speedup.rule_threshold, sample, costs).value == pytest.approx(1 + 0.1 + 0.25 / 3)
    idle = priced(speedup.rule_threshold, frame(request_("a", [0], [0])), costs)
    assert idle.reason == "no round verified a draft token: β has no width to be read at"


def test_the_share_of_losing_requests_and_their_tail(frame, request_):
    """α + β = .2 at k = 5 doubles the cost of a round: S is (ā + 1)/2, so S = 3, 1, 1, .5."""
    costs = Costs(alpha=0.1, beta=0.1)
    sample = frame(*(request_(f"r{i}", [5], [a]) for i, a in enumerate((5, 1, 1, 0))))
    assert priced(speedup.below_break_even, sample, costs).value == 0.25
    assert priced(speedup.has_losing_tail, sample, costs)
    assert not priced(speedup.has_losing_tail, frame(request_("a", [5], [5])), costs)


def test_costs_that_add_up_to_nothing_give_no_speedup(frame, request_):
    estimate = priced(speedup.speedup, frame(request_("a", [5], [5])), Costs(alpha=0, beta=-0.2))
    assert estimate.value is None
    assert estimate.reason == "the rounds cost nothing or less: β is too low"


def test_without_rounds_there_is_no_speedup(frame, request_):
    plain, costs = frame(request_("a", response_tokens=5)), Costs(0.1, 0.1)
    assert priced(speedup.speedup, plain, costs).reason == "no rounds"
    assert priced(speedup.below_break_even, plain, costs).reason == "no rounds"
    assert not priced(speedup.has_losing_tail, plain, costs)


def test_a_searching_drafter_is_paid_for_rounds_in_which_it_found_nothing(frame, request_):
    rounds = (Round(0, 0, 0, 1, drafter_ran=True), Round(0, 0, 0, 1, drafter_ran=False))
    sample = frame(request_("a", rounds=rounds))
    assert priced(speedup.speedup, sample, Costs(0.1, 0.1, alpha_round=0.5)).value == pytest.approx(2 / 2.5)


@pytest.fixture
def uncertain(frame, request_):
    """30 requests of one round with 4 proposed, all accepted, priced by repeats whose α is .05 or .15: a round costs
    1.2 or 1.6, 1.4 by the median."""
    sample = frame(*(request_(f"r{i:02}", [4], [4]) for i in range(30)))
    repeats = tuple(Costs(alpha, 0) for alpha in (0.05, 0.15) * 3)
    return sample, Costs(0.1, 0, repeats=repeats)


def test_the_spread_of_measured_costs_widens_the_speedup(uncertain):
    """Requests that are all alike have no spread of their own: the interval is that of the costs. The median of 6 draws
    from two values is the lower one, the upper one or their middle: 22/64, 22/64, 20/64. Its standard deviation is
    .05·√(44/64) = .0415, in ΣC per round 4 times that, and t(5) = 2.571."""
    sample, costs = uncertain
    gain = priced(speedup.speedup, sample, costs)
    assert gain.value == pytest.approx(5 / 1.4)
    half = 2.571 * 4 * 0.0415 / 1.4 * gain.value
    assert gain.high - gain.value == pytest.approx(half, rel=0.05)
    assert gain.value - gain.low == pytest.approx(half, rel=0.05)
    exact = priced(speedup.speedup, sample, Costs(0.1, 0))
    assert exact.high - exact.low < 1e-9


def test_thresholds_are_as_uncertain_as_the_costs(uncertain):
    sample, costs = uncertain
    for figure, factor in ((speedup.cost_threshold, 4), (speedup.cost_per_round, 4), (speedup.rule_threshold, 1)):
        found = priced(figure, sample, costs)
        assert found.high - found.value == pytest.approx(2.571 * factor * 0.0415, rel=0.05)


def test_costs_that_move_together_cancel(frame, request_):
    """α and φ part in opposite directions in every repeat: a round of 4 costs the same in all of them."""
    sample = frame(*(request_(f"r{i:02}", [4], [4]) for i in range(30)))
    repeats = tuple(Costs(alpha, 0, phi=0.4 - 4 * alpha) for alpha in (0.02, 0.03, 0.05, 0.06, 0.08, 0.09, 0.1))
    gain = priced(speedup.speedup, sample, Costs(0.06, 0, phi=0.16, repeats=repeats))
    assert gain.value == pytest.approx(5 / 1.4)
    assert gain.high - gain.low == pytest.approx(0, abs=1e-9)


def test_one_repeat_has_no_known_spread(frame, request_):
    sample = frame(*(request_(f"r{i:02}", [4], [4]) for i in range(30)))
    gain = priced(speedup.speedup, sample, Costs(0.1, 0, repeats=(Costs(0.1, 0),)))
    assert (gain.value, gain.low) == (pytest.approx(5 / 1.4), None)
    assert gain.reason == "the costs rest on 1 repeat: their spread is unknown"


def test_the_rule_over_two_regimes_weighs_them_by_rounds(frame, request_):
    """3 rounds near context 100 with α = .1 and 1 near context 1,000 with α = .5: 1 + .2 + β."""
    near, far = (Costs(alpha, 0.02, context=context) for alpha, context in ((0.1, 100), (0.5, 1000)))
    sample = frame(request_("a", [2] * 3, [0] * 3, prompt_tokens=90), request_("b", [2], [0], prompt_tokens=2000))
    assert priced(speedup.rule_threshold, sample, near, far).value == pytest.approx(1.22)


def test_the_interval_covers_the_truth_as_often_as_it_says(frame, request_):
    """200 calibrations of 9 repeats, 10 % noise of the machine and 3 % of each sample; requests all alike, so that
    only the costs are uncertain. A round of 4 costs 1.08 + .4 + .05 + .03."""
    sample = frame(*(request_(f"r{i:02}", [4], [4], prompt_tokens=60) for i in range(30)))
    arm, hits = {"method": "m"}, 0
    for seed in range(200):
        samples = noisy(random.Random(seed), {0: 103, 1: 105, 4: 111}, {1: 15, 4: 45})
        gain = priced(speedup.speedup, sample, *costs_from(samples, arm, {"a": arm}))
        hits += gain.low <= 5 / 1.56 <= gain.high
    assert 0.93 <= hits / 200 < 1


def noisy(rng, rounds, drafts):
    for repeat in range(9):
        shared, place = rng.gauss(1, 0.1), {"context": 64, "repeat": repeat}
        times = [("plain", 0, 100, None), *(("round", width, us, None) for width, us in rounds.items())]
        times += [("draft", width, us, "a") for width, us in drafts.items()]
        for kind, width, us, arm in times:
            yield CostSample(kind, us=us * shared * rng.gauss(1, 0.03), width=width, arm=arm, **place)
