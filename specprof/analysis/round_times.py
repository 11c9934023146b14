"""Where the time of a round goes: the draft, the verification, and the rest."""

from dataclasses import dataclass

import numpy as np

from specprof.analysis.estimate import Estimate
from specprof.analysis.frame import Frame, Requests
from specprof.analysis.intervals import ANY, COUNT, Bounds, Ints, ratio
from specprof.analysis.measured import decode_tokens, decode_us


@dataclass(frozen=True, slots=True)
class TimePerRound:
    """Means over the rounds whose time was observed. `plain_ms` is a plain decode step of the baseline in this row."""

    draft_ms: Estimate
    verify_ms: Estimate
    overhead_ms: Estimate
    step_ms: Estimate
    plain_ms: Estimate


def time_per_round(frame: Frame, baseline: Requests | None) -> TimePerRound:
    t = frame.times

    def mean(total_us: Ints, rounds: Ints, what: str, bounds: Bounds = COUNT) -> Estimate:
        return ratio(total_us / 1000, rounds, frame.requests.cluster, bounds=bounds, empty=f"no round has {what}")

    return TimePerRound(
        draft_ms=mean(t.draft_us, t.drafts, "a draft time"),
        verify_ms=mean(t.verify_us, t.verifies, "a verification time"),
        overhead_ms=mean(t.overhead_us, t.splits, "all three times", ANY),
        step_ms=mean(t.step_us, t.steps, "a step time"),
        plain_ms=Estimate.missing("no baseline") if baseline is None else _plain_step(baseline),
    )


def _plain_step(baseline: Requests) -> Estimate:
    timed = baseline.take(np.isfinite(decode_us(baseline)))
    empty = "no request of the baseline has a decode time"
    return ratio(decode_us(timed) / 1000, decode_tokens(timed), timed.cluster, empty=empty)
