import pytest

from specprof.analysis import flags
from specprof.analysis.cost import Costs
from specprof.analysis.estimate import Estimate
from specprof.analysis.price import price
from specprof.records import FLAGS

COSTS = [Costs(alpha=0.1, beta=0.1)]


@pytest.fixture(scope="session")
def raised(frame):
    """The flags of a selection without costs and baseline, `thin` aside."""
    return lambda *requests: flags.of_requests(frame(*requests), None, None, frame().requests) - {"thin"}


@pytest.fixture(scope="session")
def many(request_):
    return lambda n, **values: [request_(f"r{i:03}", [5], [1], **values) for i in range(n)]


def test_nineteen_clusters_are_thin_and_twenty_are_not(frame, many):
    assert "thin" in flags.of_requests(frame(*many(19)), None, None, frame().requests)
    assert "thin" not in flags.of_requests(frame(*many(20)), None, None, frame().requests)


def test_a_losing_decile_is_a_tail(frame, request_):
    """α + β = .2 at k = 5: S = (ā + 1)/2."""
    good, bad = ([request_(f"{name}{i}", [5], [a]) for i in range(8)] for name, a in (("g", 3), ("b", 0)))

    def tail(sample, costs=COSTS):
        return "tail" in flags.of_requests(sample, costs and price(sample, costs), None, frame().requests)

    assert tail(frame(*good, *bad))
    assert not tail(frame(*good))
    assert not tail(frame(*good, *bad), costs=None)


def test_more_than_a_fifth_cut_at_max_tokens_is_right_censored(raised, many, request_):
    cut = [request_(f"cut{i}", [5], [1], finish_reason="length") for i in range(2)]
    assert raised(*many(8, finish_reason="eos"), *cut) == set()
    assert raised(*many(7, finish_reason="eos"), *cut) == {"right-censored"}


def test_rounds_that_do_not_add_up_to_the_response_are_unbalanced(raised, request_):
    assert raised(request_("a", [5], [1], response_tokens=3)) == {"unbalanced"}
    assert raised(request_("a", [5], [1], response_tokens=3, first_tokens=1)) == set()


def test_plain_decoding_has_no_rounds_to_balance(raised, request_):
    assert raised(request_("a", response_tokens=40, arm="baseline")) == set()
    assert raised(request_("a", response_tokens=40)) == {"unbalanced"}


def test_a_request_of_a_tenth_of_all_rounds_or_three_times_the_mean_is_a_runaway(raised, request_):
    """Of 40 requests with one round each but the last: 3/40 is below the limit of 10 %."""

    def rounds(n, last):
        short = [request_(f"r{i:03}", [1], [1]) for i in range(n - 1)]
        return [*short, request_("z", [1] * last, [1] * last)]

    assert raised(*rounds(40, last=4)) == set()  # 4 of 43
    assert raised(*rounds(40, last=5)) == {"runaway"}  # 5 of 44
    assert raised(*rounds(4, last=9)) == set()  # 9 of 12 is three quarters, the limit at n = 4
    assert raised(*rounds(4, last=10)) == {"runaway"}


def test_lossy_verification_of_one_request_flags_the_row(raised, request_):
    assert raised(request_("a", [1], [1], lossy=True), request_("b", [1], [1], lossy=False)) == {"lossy"}
    assert raised(request_("a", [1], [1], lossy=False), request_("b", [1], [1])) == set()


def test_rule_and_cost_are_disputed_only_where_the_verdict_rests_on_cost():
    quiet = Estimate(1.0, 0.9, 1.1, 30)
    assert flags.of_verdict("enable", "cost", False, True, quiet, None) == {"disputed"}
    assert flags.of_verdict("enable", "measured", False, True, quiet, quiet) == set()
    assert flags.of_verdict("enable", "cost", True, True, quiet, None) == set()
    assert flags.of_verdict("enable", "cost", None, True, quiet, None) == set()


def test_disjoint_intervals_of_measurement_and_model_are_a_mismatch():
    measured, model = Estimate(1.2, 1.1, 1.3, 30), Estimate(1.6, 1.4, 1.8, 30)
    assert flags.of_verdict("enable", "measured", None, None, model, measured) == {"model-mismatch"}
    assert flags.of_verdict("enable", "measured", None, None, measured, model) == {"model-mismatch"}
    assert flags.of_verdict("enable", "measured", None, None, Estimate(1.4, 1.3, 1.5, 30), measured) == set()
    assert flags.of_verdict("enable", "measured", None, None, Estimate.missing("no costs"), measured) == set()


def test_flags_come_in_the_order_of_the_closed_list():
    assert flags.in_order(set(FLAGS)) == tuple(FLAGS)
    assert flags.in_order({"runaway", "thin"}) == ("thin", "runaway")
