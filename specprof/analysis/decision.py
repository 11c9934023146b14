"""What a row of the report concludes: its verdict with the basis, its flags, and its notes."""

from dataclasses import dataclass

from specprof.analysis import flags, verdict
from specprof.analysis.contract import Cost, Rule
from specprof.analysis.estimate import Estimate
from specprof.analysis.frame import Frame
from specprof.analysis.measured import Measured

SLACK = 1.2


@dataclass(frozen=True, slots=True)
class Decision:
    """`verdict` is None for the reference arm, which is judged against nothing."""

    verdict: str | None
    basis: str | None
    flags: tuple[str, ...]
    notes: tuple[str, ...]


def decided(
    frame: Frame, rule: Rule, cost: Cost, measured: Measured | None, tokens: Estimate, raised: set[str]
) -> Decision:
    """`tokens` per round; `raised` are the flags that the requests raise by themselves."""
    decode = None if measured is None else measured.decode
    answer, basis = verdict.judge(decode, None if cost.regime is None else cost.speedup)
    deciding = cost.speedup if basis == "cost" or decode is None else decode
    raised = raised | flags.of_verdict(answer, basis, rule.holds, cost.holds, cost.speedup, decode)
    raised |= flags.of_basis(basis, deciding)
    notes = [*_notes(frame), *_beyond_free_drafts(tokens.value, decode)]
    if answer == "undecided" and basis is not None:
        notes.append(verdict.what_would_settle(deciding, verdict.MARGIN[basis]))
    return Decision(answer, basis, flags.in_order(raised), tuple(notes))


def unjudged(frame: Frame, raised: set[str]) -> Decision:
    note = "the baseline arm is what others are measured against: no verdict"
    return Decision(None, None, flags.in_order(raised), (*_notes(frame), note))


def _notes(frame: Frame) -> list[str]:
    open = int((~frame.requests.complete).sum())
    left_out = int((frame.requests.complete & ~frame.counted).sum())
    odd = int((flags.unbalanced(frame) & frame.counted).sum())
    return [
        *([f"{_requests(open)} left out: unfinished"] if open else []),
        *([f"{_requests(left_out)} left out: {_reasons(frame)}"] if left_out else []),
        *([f"{_requests(odd)} whose rounds do not add up to the response"] if odd else []),
    ]


def _beyond_free_drafts(most: float | None, decode: Estimate | None) -> list[str]:
    """Drafts that cost nothing and verify for free speed decoding up by the tokens per round; `SLACK` more than that
    leaves room for targets whose wider step is the cheaper one, and is otherwise the noise of a busy machine."""
    if decode is None or decode.value is None or most is None or decode.value <= SLACK * most:
        return []
    limit = f"measured {decode.value:.2f} is more than {most:.2f} tokens per round allow"
    return [f"{limit}: the arms did not have the same machine; run again while nothing else runs"]


def _reasons(frame: Frame) -> str:
    """Why requests were skipped; the engine's reasons stand in `excluded`."""
    lost = frame.select(frame.requests.complete & ~frame.counted)
    reasons = [reason for reason, counts in lost.excluded.items() if counts.any()]
    return ", ".join(reasons) or "skipped or failed"


def _requests(count: int) -> str:
    return f"{count:,} request{'' if count == 1 else 's'}"
