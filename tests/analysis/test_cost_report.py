import pytest

from specprof.analysis.cost import Costs
from specprof.analysis.cost_report import cost_report, mean_width


def measured(alphas, **values):
    repeats = tuple(Costs(alpha, 0, widths=((2, 1 + alpha), (4, 1.4)), step_us=1000, **values) for alpha in alphas)
    return Costs(0.3, 0, widths=((2, 1.3), (4, 1.4)), source="measured", step_us=1000, repeats=repeats, **values)


def test_measured_costs_have_the_interval_of_their_repeats():
    """Of 6 repeats the interval of the median is the whole range."""
    report = cost_report(measured([0.1, 0.2, 0.3, 0.3, 0.4, 0.5]), width=2)
    assert (report.alpha.value, report.alpha.low, report.alpha.high, report.alpha.n) == (0.3, 0.1, 0.5, 6)
    assert (report.beta.value, report.beta.low, report.beta.high) == pytest.approx((0.15, 0.05, 0.25))
    assert [(entry.width, entry.cost.value, entry.cost.low) for entry in report.widths] == [
        (2, 1.3, 1.1),
        (4, 1.4, 1.4),
    ]
    assert (report.step_ms.value, report.source) == (1.0, "measured")


def test_five_repeats_have_a_value_and_a_reason():
    alpha = cost_report(measured([0.1, 0.2, 0.3, 0.4, 0.5]), width=2).alpha
    assert (alpha.value, alpha.low, alpha.reason) == (0.3, None, "the interval of a median needs 6 repeats")


def test_a_setup_that_some_repeats_lack_is_that_of_the_others():
    repeats = tuple(Costs(0, 0, per_request=once) for once in (2.0, None, 4.0))
    once = cost_report(Costs(0, 0, per_request=3.0, repeats=repeats), width=None).per_request
    assert (once.value, once.n) == (3.0, 2)


def test_without_a_width_a_table_shows_no_slope():
    beta = cost_report(measured([0.1]), width=None).beta
    assert beta.reason == "no round verified a draft token: β has no width to be read at"


def test_what_is_unknown_for_want_of_a_second_length_says_so():
    costs = Costs(0, 0, alpha_round=0.2, longest=3, repeats=(Costs(0, 0, alpha_round=0.2, longest=3),) * 6)
    report = cost_report(costs, width=None)
    assert report.alpha.value is None
    assert report.alpha.reason.startswith("drafts of one length were timed: all of their cost is α₀")
    assert report.alpha_round.reason is None


def test_the_mean_width_is_that_of_rounds_that_verified_a_draft(frame, request_):
    assert mean_width(frame(request_("a", [4, 0, 1], [0, 0, 0]))) == 2.5
    assert mean_width(frame(request_("a", [0], [0]))) is None
