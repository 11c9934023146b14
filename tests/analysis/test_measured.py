import pytest

from specprof.analysis.measured import decode, length_shift, measure, pairs, reference_lengths


@pytest.fixture(scope="session")
def arms(frame, request_):
    """The requests of the speculative and the baseline arm. Rows: (prompt, sample, tokens, ttft_us, latency_us)."""

    def build(spec, base):
        rows = [
            request_(
                f"{arm}-{i}",
                arm=arm,
                prompt_id=prompt,
                sample=sample,
                response_tokens=tokens,
                first_chunk_tokens=1,
                ttft_us=ttft,
                latency_us=latency,
            )
            for arm, values in (("spec", spec), ("baseline", base))
            for i, (prompt, sample, tokens, ttft, latency) in enumerate(values)
        ]
        whole = frame(*rows)
        return tuple(whole.requests.take(whole.requests.arm == arm) for arm in ("spec", "baseline"))

    return build


def test_the_decode_ratio_is_time_per_token_over_time_per_token(arms):
    """Baseline 900 + 400 µs for 9 + 4 tokens, speculative 500 + 300 µs for 10 + 4: 100 / (800/14) = 1.75."""
    spec, base = arms(
        [("p", 0, 11, 100, 600), ("q", 0, 5, 100, 400)],
        [("p", 0, 10, 100, 1000), ("q", 0, 5, 100, 500)],
    )
    assert decode(spec, base).value == pytest.approx(1.75)
    assert decode(spec, base).n == 2


def test_end_to_end_rests_on_answers_of_equal_length(arms):
    spec, base = arms(
        [("p", 0, 11, 100, 600), ("q", 0, 5, 100, 400)],
        [("p", 0, 10, 150, 1000), ("q", 0, 5, 250, 500)],
    )
    result = measure(spec, base)
    assert result.e2e.value == 500 / 400
    assert result.ttft_ratio.value == 400 / 200


def test_a_prompt_of_one_arm_is_left_out(arms):
    spec, base = arms(
        [("p", 0, 5, 100, 300), ("q", 0, 5, 100, 300), ("only-spec", 0, 5, 0, 9999)],
        [("p", 0, 5, 100, 500), ("q", 0, 5, 100, 500), ("only-base", 0, 5, 0, 9999)],
    )
    assert decode(spec, base).value == pytest.approx(2.0)


def test_requests_pair_by_prompt_and_sample(arms):
    spec, base = arms(
        [("p", 1, 5, 0, 1), ("q", 0, 5, 0, 2), ("p", 0, 5, 0, 3)],
        [("p", 0, 5, 0, 30), ("p", 1, 5, 0, 10), ("p", 2, 5, 0, 99)],
    )
    left, right = pairs(spec, base)
    assert left.latency_us.tolist() == [3, 1]
    assert right.latency_us.tolist() == [30, 10]


def test_without_times_there_is_a_reason_and_no_ratio(frame, request_):
    spec, base = (frame(request_(id, prompt_id="p")).requests for id in "ab")
    result = measure(spec, base)
    assert result.decode.reason == "no prompt with decode times in both arms"
    assert result.e2e.reason == "no timed pair with answers of equal length"
    assert result.ttft_ratio.reason == "no pair with both times to the first token"


def test_lengths_shift_only_beyond_chance(arms):
    def shifts(*differences):
        return length_shift(
            *arms(
                [(f"p{i}", 0, 50 + d, 0, 1) for i, d in enumerate(differences)],
                [(f"p{i}", 0, 50, 0, 1) for i in range(len(differences))],
            )
        )

    assert not shifts(0, 0, 0)
    assert not shifts(-9, 8, 1, -2)
    assert shifts(9, 11, 10, 12)
    assert shifts(2, 2, 2)  # no spread at all: every answer is two tokens longer
    assert not shifts(3)


def test_a_request_is_placed_by_its_baselines_length(arms):
    """Same sample, else the prompt's first sample, else its own length."""
    spec, base = arms(
        [("p", 0, 5, 0, 1), ("p", 1, 6, 0, 1), ("p", 7, 7, 0, 1), ("q", 0, 8, 0, 1)],
        [("p", 1, 61, 0, 1), ("p", 0, 60, 0, 1)],
    )
    assert reference_lengths(spec, base).tolist() == [60, 61, 60, 8]
    assert reference_lengths(spec, base.take(base.sample[:0])).tolist() == [5, 6, 7, 8]


def test_repeats_of_one_sample_are_paired_in_their_order(arms):
    """TTFT: (100 + 300) / (50 + 100); e2e over both pairs, each of equal length: (1000 + 2000) / (500 + 500)."""
    spec, base = arms(
        [("p", 0, 5, 50, 500), ("p", 0, 7, 100, 500)],
        [("p", 0, 5, 100, 1000), ("p", 0, 7, 300, 2000)],
    )
    result = measure(spec, base)
    assert result.ttft_ratio.value == pytest.approx(400 / 150)
    assert result.e2e.value == 3.0


def test_a_repeat_without_a_partner_is_left_out(arms):
    spec, base = arms([("p", 0, 5, 50, 500), ("p", 0, 5, 60, 900)], [("p", 0, 5, 100, 1000)])
    assert [len(arm.sample) for arm in pairs(spec, base)] == [1, 1]
    assert measure(spec, base).e2e.value == 2.0
