"""Which flags of the closed list a bucket raises."""

from specprof.analysis.columns import Bools, equals
from specprof.analysis.estimate import Estimate
from specprof.analysis.frame import Frame, Requests
from specprof.analysis.measured import length_shift
from specprof.analysis.metrics import largest_request_share
from specprof.analysis.price import Priced
from specprof.analysis.speedup import has_losing_tail
from specprof.analysis.verdict import ENOUGH
from specprof.records import BASELINE, FLAGS

CUT_SHARE = 0.2
RUNAWAY_SHARE = 0.1


def of_requests(frame: Frame, priced: Priced | None, baseline: Requests | None, paired: Requests) -> set[str]:
    """Flags that the requests raise by themselves. `paired` is what is compared with `baseline`."""
    raised = {
        "thin": frame.clusters < ENOUGH,
        "tail": priced is not None and has_losing_tail(frame, priced),
        "length-shift": baseline is not None and length_shift(paired, baseline),
        "right-censored": _right_censored(frame),
        "unbalanced": unbalanced(frame).any(),
        "runaway": _runaway(frame),
        "lossy": frame.requests.lossy.any(),
    }
    return {flag for flag, holds in raised.items() if holds}


def of_verdict(
    verdict: str, basis: str | None, rule: bool | None, cost: bool | None, speedup: Estimate, decode: Estimate | None
) -> set[str]:
    """Flags that the readings raise against each other; `rule` and `cost` say whether each inequality holds."""
    raised = {
        "unpriced": verdict == "unpriced",
        "disputed": basis == "cost" and rule is not None and cost is not None and rule != cost,
        "model-mismatch": decode is not None and decode.disjoint(speedup),
    }
    return {flag for flag, holds in raised.items() if holds}


def of_basis(basis: str | None, deciding: Estimate) -> set[str]:
    """A verdict may rest on fewer clusters than the bucket has."""
    return {"thin"} if basis is not None and (deciding.n or 0) < ENOUGH else set()


def in_order(raised: set[str]) -> tuple[str, ...]:
    return tuple(flag for flag in FLAGS if flag in raised)


def unbalanced(frame: Frame) -> Bools:
    """Requests whose rounds do not add up to the response. Plain decoding need not have rounds."""
    s, r = frame.sums, frame.requests
    speaks = (s.rounds > 0) | ~equals(r.arm, BASELINE)
    odd: Bools = speaks & (r.response_tokens != r.first_tokens + s.emitted)
    return odd


def _right_censored(frame: Frame) -> bool:
    cut = equals(frame.requests.finish_reason, "length")
    return len(frame) > 0 and bool(cut.mean() > CUT_SHARE)


def _runaway(frame: Frame) -> bool:
    """A share that would stand out even if the request were three times as long as the mean."""
    share = largest_request_share(frame)
    return share is not None and share > max(RUNAWAY_SHARE, 3 / len(frame))
