import pytest

from specprof.analysis.round_times import time_per_round
from specprof.records import Round


def timed(draft, verify, step):
    return Round(1, 1, 0, 1, draft_us=draft, verify_us=verify, step_us=step)


def test_a_round_splits_into_draft_verification_and_the_rest(frame, request_):
    """The first round holds the prefill and has no times. The others: 10 + 50 + 2 and 20 + 60 + 6 ms."""
    rounds = (timed(None, None, None), timed(10_000, 50_000, 62_000), timed(20_000, 60_000, 86_000))
    split = time_per_round(frame(request_("a", rounds=rounds)), None)
    assert [split.draft_ms.value, split.verify_ms.value, split.overhead_ms.value, split.step_ms.value] == [
        15,
        55,
        4,
        74,
    ]
    assert split.step_ms.value == pytest.approx(split.draft_ms.value + split.verify_ms.value + split.overhead_ms.value)


def test_what_no_round_was_timed_for_has_a_reason(frame, request_):
    split = time_per_round(frame(request_("a", rounds=(timed(None, None, 5000),))), None)
    assert split.step_ms.value == 5
    assert split.draft_ms.reason == "no round has a draft time"
    assert split.verify_ms.reason == "no round has a verification time"
    assert split.overhead_ms.reason == "no round has all three times"
    assert split.plain_ms.reason == "no baseline"


def test_rounds_weigh_alike_and_prompts_make_the_interval(frame, request_):
    """Rounds of 1, 1, 1 and of 5 ms: the mean is 2, not 3. Deviations per prompt: −3 and 3; t(1) = 12.7."""
    sample = frame(
        request_("a", rounds=(timed(0, 1000, 1000),) * 3), request_("b", rounds=(timed(0, 5000, 5000),), prompt_id="b")
    )
    step = time_per_round(sample, None).step_ms
    assert (step.value, step.n) == (2, 2)
    assert step.high - step.value == pytest.approx(12.706 * (2 * (9 + 9)) ** 0.5 / 4, rel=1e-4)


def test_the_plain_step_of_the_baseline_stands_beside(frame, request_):
    """10 tokens after the first chunk in 400 ms; a request without times says nothing."""
    plain = {"arm": "baseline", "response_tokens": 11}
    base = frame(
        request_("b", first_chunk_tokens=1, ttft_us=100_000, latency_us=500_000, **plain), request_("c", **plain)
    )
    split = time_per_round(frame(request_("a", rounds=(timed(0, 1, 1),))), base.requests)
    assert split.plain_ms.value == 40
    nothing = time_per_round(frame(request_("a", [1], [1])), frame(request_("c", **plain)).requests)
    assert nothing.plain_ms.reason == "no request of the baseline has a decode time"
