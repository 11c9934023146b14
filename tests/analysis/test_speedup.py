import pytest
from hypothesis import given
from hypothesis import strategies as st

from specprof.analysis import metrics, speedup
from specprof.analysis.cost import Costs
from specprof.records import Round

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
        assert speedup.speedup(sample, costs).value == pytest.approx(expected, abs=0.0051)
        assert speedup.rule_threshold(sample, costs).value == pytest.approx(rule)
        assert speedup.cost_threshold(sample, costs).value == pytest.approx(cost)


def chain(frame, request_, drawn):
    k, accepted = drawn
    return k, frame(*(request_(f"r{i}", [k] * len(a), a) for i, a in enumerate(accepted)))


@given(CHAINS, SHARE, SHARE, SHARE, SHARE)
def test_a_full_chain_has_the_closed_form(frame, request_, drawn, alpha, beta, alpha_round, phi):
    k, sample = chain(frame, request_, drawn)
    costs = Costs(alpha, beta, alpha_round, phi)
    mean = metrics.mean_accepted(sample).value
    overhead = k * (alpha + beta) + alpha_round + phi
    assert speedup.speedup(sample, costs).value == pytest.approx((mean + 1) / (1 + overhead))
    assert speedup.cost_threshold(sample, costs).value == pytest.approx(overhead, abs=1e-9)
    assert speedup.cost_per_round(sample, costs).value == pytest.approx(1 + overhead)


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
    margin = metrics.mean_accepted(sample).value - speedup.cost_threshold(sample, costs).value
    gain = speedup.speedup(sample, costs).value - 1
    cost = speedup.cost_per_round(sample, costs).value
    assert margin == pytest.approx(gain * cost, abs=1e-9)


@given(st.integers(2, 12), SHARE, st.floats(0, 0.4), st.floats(0, 0.4))
def test_rule_and_cost_thresholds_meet_where_the_design_says(frame, request_, k, split, alpha_round, phi):
    total = (1 - alpha_round - phi) / (k - 1)
    costs = Costs(split * total, (1 - split) * total, alpha_round, phi)
    sample = frame(request_("a", [k, k], [1, 0]))
    assert speedup.rule_threshold(sample, costs).value == pytest.approx(speedup.cost_threshold(sample, costs).value)


def test_with_a_table_beta_is_the_slope_at_the_mean_width_of_drafting_rounds(frame, request_):
    costs = Costs(alpha=0.1, beta=0, widths=((2, 1.1), (4, 1.4)))
    sample = frame(request_("a", [4, 2, 0], [0, 0, 0]))
    assert speedup.rule_threshold(sample, costs).value == pytest.approx(1 + 0.1 + 0.25 / 3)
    idle = speedup.rule_threshold(frame(request_("a", [0], [0])), costs)
    assert idle.reason == "no round verified a draft token: β has no width to be read at"


def test_the_share_of_losing_requests_and_their_tail(frame, request_):
    """α + β = .2 at k = 5 doubles the cost of a round: S is (ā + 1)/2, so S = 3, 1, 1, .5."""
    costs = Costs(alpha=0.1, beta=0.1)
    sample = frame(*(request_(f"r{i}", [5], [a]) for i, a in enumerate((5, 1, 1, 0))))
    assert speedup.below_break_even(sample, costs).value == 0.25
    assert speedup.has_losing_tail(sample, costs)
    assert not speedup.has_losing_tail(frame(request_("a", [5], [5])), costs)


def test_costs_that_add_up_to_nothing_give_no_speedup(frame, request_):
    estimate = speedup.speedup(frame(request_("a", [5], [5])), Costs(alpha=0, beta=-0.2))
    assert estimate.value is None
    assert estimate.reason == "the rounds cost nothing or less: β is too low"


def test_without_rounds_there_is_no_speedup(frame, request_):
    plain, costs = frame(request_("a", response_tokens=5)), Costs(0.1, 0.1)
    assert speedup.speedup(plain, costs).reason == "no rounds"
    assert speedup.below_break_even(plain, costs).reason == "no rounds"
    assert not speedup.has_losing_tail(plain, costs)


def test_a_searching_drafter_is_paid_for_rounds_in_which_it_found_nothing(frame, request_):
    rounds = (Round(0, 0, 0, 1, drafter_ran=True), Round(0, 0, 0, 1, drafter_ran=False))
    sample = frame(request_("a", rounds=rounds))
    assert speedup.speedup(sample, Costs(0.1, 0.1, alpha_round=0.5)).value == pytest.approx(2 / 2.5)
