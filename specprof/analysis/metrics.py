"""What needs no costs and no baseline: counts of accepted tokens per round, per request and per drafted token."""

import numpy as np

from specprof.analysis.columns import Bools
from specprof.analysis.estimate import Estimate
from specprof.analysis.frame import Frame
from specprof.analysis.intervals import SHARE, Floats, ratio

CAP = 4  # a request weighs at most as much as one of this many times the median length
NO_DRAFTS = "no draft tokens"


def mean_accepted(frame: Frame) -> Estimate:
    return ratio(frame.sums.accepted, frame.sums.rounds, frame.requests.cluster)


def mean_accepted_drafting(frame: Frame) -> Estimate:
    s = frame.sums
    return ratio(s.drafting_accepted, s.drafting, frame.requests.cluster, empty="no round with a draft token")


def mean_accepted_per_request(frame: Frame) -> Estimate:
    """Every request with rounds weighs the same: what one user sees."""
    rates = _rates(frame)
    return ratio(rates, np.ones(rates.size), frame.requests.cluster[_active(frame)])


def mean_accepted_capped(frame: Frame) -> Estimate:
    """The pooled mean with requests of more than four times the median length weighed down to that length."""
    active = _active(frame)
    if not active.any():
        return Estimate.missing("no rounds")
    rounds = frame.sums.rounds[active]
    weight = np.minimum(1.0, CAP * np.median(rounds) / rounds)
    return ratio(weight * frame.sums.accepted[active], weight * rounds, frame.requests.cluster[active])


def tokens_per_round(frame: Frame) -> Estimate:
    return ratio(frame.sums.emitted, frame.sums.rounds, frame.requests.cluster)


def acceptance_rate(frame: Frame) -> Estimate:
    """Also the affordable overhead: Σa/Σk = ā/k̄ is the α + β per drafted token at which a chain breaks even."""
    return ratio(frame.sums.accepted, frame.sums.drafted, frame.requests.cluster, bounds=SHARE, empty=NO_DRAFTS)


def draft_coverage(frame: Frame) -> Estimate:
    """The share of emitted tokens that came out of rounds with a draft."""
    s = frame.sums
    return ratio(s.drafting_emitted, s.emitted, frame.requests.cluster, bounds=SHARE, empty="no emitted tokens")


def accepted_quantile(frame: Frame, q: float) -> Estimate:
    """Quantile of the requests' own means of accepted tokens per round."""
    return quantile(_rates(frame), q, frame.clusters_where(_active(frame)), "no rounds")


def quantile(values: Floats, q: float, n: int, empty: str) -> Estimate:
    """numpy's linear quantile; `empty` is the reason where there are no values."""
    if not values.size:
        return Estimate.missing(empty)
    return Estimate.point(
        float(np.quantile(values, q)), n, "interval not computed: quantile intervals are not built yet"
    )


def largest_request_share(frame: Frame) -> float | None:
    rounds = frame.sums.rounds
    total = int(rounds.sum())
    return float(rounds.max() / total) if total else None


def _active(frame: Frame) -> Bools:
    return frame.sums.rounds > 0


def _rates(frame: Frame) -> Floats:
    active = _active(frame)
    return np.divide(frame.sums.accepted[active], frame.sums.rounds[active], dtype=np.float64)
