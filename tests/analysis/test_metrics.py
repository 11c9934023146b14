import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specprof.analysis import metrics


def test_pooled_and_per_request_means_rank_two_drafters_in_opposite_order(frame, request_):
    """Requests as (rounds, emitted): A (10, 50), (100, 150); B (10, 35), (100, 175)."""

    def drafter(long, short):
        requests = []
        for id, rounds, emitted in (("a", 10, short), ("b", 100, long)):
            accepted = [(emitted - rounds) // rounds] * rounds
            for i in range(emitted - rounds - sum(accepted)):
                accepted[i] += 1
            requests.append(request_(id, [5] * rounds, accepted))
        return frame(*requests)

    a, b = drafter(long=150, short=50), drafter(long=175, short=35)
    assert metrics.tokens_per_round(a).value == pytest.approx(200 / 110)  # 1.82
    assert metrics.tokens_per_round(b).value == pytest.approx(210 / 110)  # 1.91
    assert metrics.mean_accepted_per_request(a).value == pytest.approx(3.25 - 1)
    assert metrics.mean_accepted_per_request(b).value == pytest.approx(2.625 - 1)


@pytest.fixture(scope="session")
def hand_made(frame, request_):
    """Three requests: a/k of 6/10 in 2 rounds, 1/4 in 2 rounds of which one drafts nothing, 0/0 in 1 round."""
    return frame(request_("a", [5, 5], [5, 1]), request_("b", [4, 0], [1, 0]), request_("c", [0], [0]))


def test_the_means_of_a_hand_made_bucket(hand_made):
    assert metrics.mean_accepted(hand_made).value == 7 / 5
    assert metrics.mean_accepted_drafting(hand_made).value == 7 / 3
    assert metrics.mean_accepted_per_request(hand_made).value == pytest.approx((3 + 0.5 + 0) / 3)
    assert metrics.tokens_per_round(hand_made).value == 12 / 5
    assert metrics.acceptance_rate(hand_made).value == 7 / 14
    assert metrics.draft_coverage(hand_made).value == 10 / 12


def test_the_clusters_that_inform_a_mean_are_counted(hand_made):
    assert metrics.mean_accepted(hand_made).n == 3
    assert metrics.mean_accepted_drafting(hand_made).n == 2


def test_a_request_of_many_times_the_median_length_is_weighed_down_to_four_medians(frame, request_):
    """Rounds 1, 1, 1 and 40, accepting 1 and 3 per round: the long one counts as 4 rounds of 40."""
    short = [request_(id, [3], [1]) for id in "abc"]
    skewed = frame(*short, request_("long", [3] * 40, [3] * 40))
    assert metrics.mean_accepted(skewed).value == pytest.approx((3 + 120) / 43)
    assert metrics.mean_accepted_capped(skewed).value == pytest.approx((3 + 4 * 3) / (3 + 4))
    assert metrics.largest_request_share(skewed) == 40 / 43


def test_capping_changes_nothing_among_like_lengths(hand_made):
    assert metrics.mean_accepted_capped(hand_made) == metrics.mean_accepted(hand_made)


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6), min_size=1, max_size=12))
def test_quantiles_are_those_of_numpy_over_the_requests_own_means(frame, request_, drawn):
    requests = [request_(f"r{i}", [5] * len(a), a) for i, a in enumerate(drawn)]
    means = [sum(a) / len(a) for a in drawn]
    for q in (0.1, 0.5, 0.9, 0.99):
        estimate = metrics.accepted_quantile(frame(*requests), q)
        assert estimate.value == pytest.approx(np.quantile(means, q))
        assert estimate.reason == "interval not computed: quantile intervals are not built yet"


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=5), min_size=2, max_size=8))
def test_tokens_per_round_is_mean_accepted_plus_one_where_nothing_is_cut(frame, request_, drawn):
    sample = frame(*(request_(f"r{i}", [4] * len(a), a) for i, a in enumerate(drawn)))
    assert metrics.tokens_per_round(sample).value == pytest.approx(metrics.mean_accepted(sample).value + 1)


def test_rounds_without_a_draft_token_have_no_rate_rather_than_zero(frame, request_):
    idle = frame(request_("a", [0, 0], [0, 0]), request_("b", [0], [0]))
    assert metrics.mean_accepted(idle).value == 0
    assert metrics.draft_coverage(idle).value == 0
    assert metrics.acceptance_rate(idle).reason == "no draft tokens"
    assert metrics.mean_accepted_drafting(idle).reason == "no round with a draft token"


def test_without_rounds_every_mean_says_so(frame, request_):
    plain = frame(request_("a", response_tokens=9))
    for mean in (metrics.mean_accepted, metrics.mean_accepted_per_request, metrics.mean_accepted_capped):
        assert mean(plain).reason == "no rounds"
    assert metrics.accepted_quantile(plain, 0.5).reason == "no rounds"
    assert metrics.largest_request_share(plain) is None
