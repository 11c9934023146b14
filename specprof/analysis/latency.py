"""Latency of single requests: to the first token, per further token, end to end."""

from dataclasses import dataclass

import numpy as np

from specprof.analysis.estimate import Estimate
from specprof.analysis.frame import Frame
from specprof.analysis.intervals import Floats
from specprof.analysis.measured import decode_tokens, decode_us
from specprof.analysis.metrics import quantile


@dataclass(frozen=True, slots=True)
class Percentiles:
    p50: Estimate
    p90: Estimate
    p99: Estimate


@dataclass(frozen=True, slots=True)
class Latency:
    ttft_ms: Percentiles
    tpot_ms: Percentiles
    e2e_ms: Percentiles


def latency(frame: Frame) -> Latency:
    """Time per output token is (latency − TTFT)/(tokens after the first chunk): requests without any have none."""
    tokens = decode_tokens(frame.requests)
    per_token = np.divide(decode_us(frame.requests), tokens, out=np.full(len(frame), np.nan), where=tokens > 0)
    return Latency(
        ttft_ms=_percentiles(frame, frame.requests.ttft_us, "no request has a time to the first token"),
        tpot_ms=_percentiles(frame, per_token, "no request has a time per token"),
        e2e_ms=_percentiles(frame, frame.requests.latency_us, "no request has a latency"),
    )


def _percentiles(frame: Frame, times_us: Floats, empty: str) -> Percentiles:
    seen = np.isfinite(times_us)
    n = frame.clusters_where(seen)
    return Percentiles(*(quantile(times_us[seen] / 1000, q, n, empty) for q in (0.5, 0.9, 0.99)))
