import numpy as np
import pytest

from specprof.analysis.latency import latency


def test_percentiles_are_those_of_numpy_in_milliseconds(frame, request_):
    ttft, whole = [1000, 3000, 2000], [11_000, 9000, 6000]
    requests = [
        request_(f"r{i}", response_tokens=6, first_chunk_tokens=1, ttft_us=t, latency_us=w)
        for i, (t, w) in enumerate(zip(ttft, whole, strict=True))
    ]
    result = latency(frame(*requests))
    assert result.ttft_ms.p50.value == 2.0
    assert result.tpot_ms.p50.value == pytest.approx(6 / 5)
    assert result.e2e_ms.p90.value == pytest.approx(np.quantile([11, 9, 6], 0.9))
    assert result.e2e_ms.p99.n == 3


def test_an_answer_of_one_chunk_has_no_time_per_token(frame, request_):
    single = latency(frame(request_("a", response_tokens=2, first_chunk_tokens=2, ttft_us=5, latency_us=5)))
    assert single.tpot_ms.p50.value is None
    assert single.e2e_ms.p50.value == 0.005


def test_times_that_were_not_observed_leave_a_reason(frame, request_):
    unseen = latency(frame(request_("a", response_tokens=2)))
    assert unseen.ttft_ms.p99.reason == "no request has a time to the first token"
    assert unseen.tpot_ms.p99.reason == "no request has a time per token"
    assert unseen.e2e_ms.p99.reason == "no request has a latency"
