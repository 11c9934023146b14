"""What a row of the report concludes: its verdict with the basis, its flags, and its notes."""

from dataclasses import dataclass

from specprof.analysis import flags, verdict
from specprof.analysis.contract import Cost, Rule
from specprof.analysis.frame import Frame
from specprof.analysis.measured import Measured


@dataclass(frozen=True, slots=True)
class Decision:
    """`verdict` is None for the reference arm, which is judged against nothing."""

    verdict: str | None
    basis: str | None
    flags: tuple[str, ...]
    notes: tuple[str, ...]


def decided(frame: Frame, rule: Rule, cost: Cost, measured: Measured | None, raised: set[str]) -> Decision:
    """`raised` are the flags that the requests raise by themselves."""
    decode = None if measured is None else measured.decode
    answer, basis = verdict.judge(decode, None if cost.regime is None else cost.speedup)
    raised = raised | flags.of_verdict(answer, basis, rule.holds, cost.holds, cost.speedup, decode)
    notes = _notes(frame)
    if answer == "undecided" and basis is not None:
        deciding = cost.speedup if basis == "cost" or decode is None else decode
        notes.append(verdict.what_would_settle(deciding, verdict.MARGIN[basis]))
    return Decision(answer, basis, flags.in_order(raised), tuple(notes))


def unjudged(frame: Frame, raised: set[str]) -> Decision:
    note = "the baseline arm is what others are measured against: no verdict"
    return Decision(None, None, flags.in_order(raised), (*_notes(frame), note))


def _notes(frame: Frame) -> list[str]:
    open = int((~frame.requests.complete).sum())
    odd = int(flags.unbalanced(frame.select(frame.counted)).sum())
    return [
        *([f"{_requests(open)} left out: unfinished"] if open else []),
        *([f"{_requests(odd)} whose rounds do not add up to the response"] if odd else []),
    ]


def _requests(count: int) -> str:
    return f"{count:,} request{'' if count == 1 else 's'}"
