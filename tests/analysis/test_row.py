import numpy as np
import pytest

from specprof.analysis.cost import Costs
from specprof.analysis.row import bucket

COSTS = (Costs(alpha=0.1, beta=0.1),)  # at k = 5 a round costs 2


@pytest.fixture(scope="session")
def arms(frame, request_):
    """Speculative and baseline frames of `n` prompts that decode 10 tokens in `spec_us` and `base_us` (±1 %)."""

    def build(n, spec_us, base_us):
        rows = []
        for i in range(n):
            values = {"prompt_id": f"p{i:03}", "response_tokens": 11, "first_chunk_tokens": 1, "ttft_us": 0}
            jitter = 1 + (i % 3 - 1) / 100
            rows.append(request_(f"s{i}", [5] * 2, [4, 4], first_tokens=1, latency_us=int(spec_us * jitter), **values))
            rows.append(request_(f"b{i}", arm="baseline", latency_us=base_us, **values))
        whole = frame(*rows)
        return whole.select(whole.requests.arm == "spec"), whole.select(whole.requests.arm == "baseline")

    return build


def test_measured_pairs_decide_and_the_model_is_checked_against_them(arms):
    row = bucket(*arms(20, spec_us=5000, base_us=10_000), COSTS)
    assert row.measured.decode.value == pytest.approx(2.0, rel=1e-3)
    assert (row.verdict, row.basis) == ("enable", "measured")
    assert row.cost.speedup.value == 2.5
    assert row.flags == ("model-mismatch",)
    assert row.notes == ()


def test_costs_decide_where_there_is_no_baseline(arms):
    spec, _ = arms(20, spec_us=5000, base_us=10_000)
    row = bucket(spec, None, COSTS)
    assert row.measured is None
    assert (row.verdict, row.basis, row.cost.holds, row.rule.holds) == ("enable", "cost", True, True)
    assert (row.rule.threshold.value, row.cost.threshold.value) == (pytest.approx(1.2), pytest.approx(1.0))


def test_with_neither_the_row_is_unpriced_and_says_what_can_be_afforded(arms):
    spec, _ = arms(20, spec_us=5000, base_us=10_000)
    row = bucket(spec, None)
    assert (row.verdict, row.basis, row.flags) == ("unpriced", None, ("unpriced",))
    assert row.affordable_overhead.value == 0.8
    assert row.cost.holds is row.rule.holds is row.cost.regime is None
    for estimate in (row.cost.speedup, row.cost.threshold, row.rule.threshold, row.below_break_even):
        assert estimate.value is None
        assert estimate.reason == "no costs: pass --alpha and --beta, or measure them"


def test_the_rule_of_thumb_and_the_model_can_dispute(frame, request_):
    """k = 5, α + β = .12, ā = 1: the rule asks for 1.12, the model for .6."""
    sample = frame(*(request_(f"r{i:02}", [5, 5], [1, 1]) for i in range(20)))
    row = bucket(sample, None, [Costs(alpha=0.1, beta=0.02)])
    assert (row.rule.holds, row.cost.holds, row.verdict) == (False, True, "enable")
    assert row.flags == ("disputed",)


def test_unfinished_and_skipped_requests_are_counted_apart(frame, request_):
    sample = frame(
        request_("a", [5], [3], excluded={"grammar": 2}),
        request_("b", [5], [5], complete=False, excluded={"grammar": 9}),
        request_("c", finish_reason="skipped", excluded={"prompt longer than the context": 1}),
    )
    row = bucket(sample, None)
    assert (row.requests, row.rounds, row.mean_accepted.value) == (1, 1, 3)
    assert row.excluded == {"grammar": 2, "prompt longer than the context": 1}
    assert row.notes == ("1 request left out: unfinished", "1 request left out: prompt longer than the context")


def test_an_open_question_says_how_much_more_would_answer_it(frame, request_):
    sample = frame(*(request_(f"r{i}", [5], [i % 4]) for i in range(8)))
    row = bucket(sample, None, COSTS)
    assert row.verdict == "undecided"
    # S is (ā + 1)/2, so its mean over 8 is 1.25 and its variance 2 · Σ(a − 1.5)²/4 / (8 · 7) = 5/112
    # half-width 2.3646 · .2113 = .4996; (.4996/.2)² · 8 − 8 = 41.9
    assert row.notes == ("about 42 more clusters would settle it at this spread",)


def test_one_request_has_values_but_no_intervals(frame, request_):
    row = bucket(frame(request_("a", [5, 5], [3, 1])), None, COSTS)
    assert row.mean_accepted.value == 2
    assert row.mean_accepted.low is None
    assert row.cost.holds is None
    assert row.notes == ("no interval for the speed-up: 1 cluster: an interval needs at least 2",)


def test_an_empty_selection_reports_nothing_and_decides_nothing(frame):
    row = bucket(frame(), frame(), COSTS)
    assert (row.requests, row.clusters, row.rounds, row.survival, row.reached) == (0, 0, 0, (), ())
    assert (row.verdict, row.basis) == ("undecided", "cost")
    assert row.mean_accepted.reason == "no rounds"
    assert row.notes == ("no interval for the speed-up: no rounds",)


def test_rounds_that_never_drafted_pay_only_for_themselves(frame, request_):
    sample = frame(*(request_(f"r{i:02}", [0, 0], [0, 0]) for i in range(20)))
    row = bucket(sample, None, COSTS)
    assert (row.cost.speedup.value, row.verdict) == (1.0, "neutral")
    assert row.acceptance_rate.value is None


def test_what_the_arm_as_a_whole_raises_stands_on_the_row(frame, request_):
    sample = frame(request_("a", [5], [3]))
    assert bucket(sample, None, raised={"drifted", "adaptive-k"}).flags == ("thin", "drifted", "unpriced", "adaptive-k")
    assert "adaptive-k" not in bucket(sample, None).flags


def test_the_gate_may_ask_about_any_selection(arms):
    spec, base = arms(21, spec_us=5000, base_us=10_000)
    part = bucket(spec.select(np.arange(21) < 4), base, COSTS)
    assert (part.requests, part.measured.decode.n) == (4, 4)


def test_a_speed_up_that_no_draft_could_give_says_that_the_machine_was_noisy(arms):
    """5 tokens per round allow 5 times, or 6 with a wide step that is the cheaper one: measured 7 is noise."""
    plausible, noise = (bucket(*arms(20, spec_us=1000, base_us=us)) for us in (5_900, 7_000))
    assert plausible.notes == ()
    (note,) = noise.notes
    assert note.startswith("measured 7.00 is more than 5.00 tokens per round allow")


def test_a_verdict_on_few_pairs_is_thin_however_many_requests_there_are(arms, frame, request_):
    spec, base = arms(30, spec_us=5000, base_us=10_000)
    few = base.select(np.arange(len(base)) < 3)
    row = bucket(spec, few)
    assert (row.clusters, row.measured.decode.n, row.verdict) == (30, 3, "enable")
    assert "thin" in row.flags


def test_requests_that_ended_in_an_error_are_left_out_with_a_note(frame, request_):
    row = bucket(frame(request_("a", [5], [3]), request_("b", [5], [0], finish_reason="error")), None)
    assert (row.requests, row.mean_accepted.value) == (1, 3)
    assert row.notes == ("1 request left out: skipped or failed",)
