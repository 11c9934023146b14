"""The engine's times against a synchronised wall clock: whole rounds as they run, and their parts with a wait at each
mark."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter_ns
from typing import Any

from gpu_check.outcome import Finding, Table
from gpu_check.stand import DRAFT, Stand
from specprof.records import Arm, Request, Round

APART = 0.03
ARMS = (Arm("draft", "draft_model", draft=DRAFT, k=4), Arm("lookup", "prompt_lookup", k=4))
REQUESTS, WORDS, TOKENS = 3, 240, 24


def check(stand: Stand) -> Finding:
    ran = [pair for arm in ARMS for pair in _undisturbed(stand, arm)]
    apart = {f"rounds of {request.request_id}": value for request, value in ran} | _parts(stand)
    worst = max(map(abs, apart.values()))
    rounds = [round for request, _ in ran for round in request.rounds[1:]]
    faults = [fault for round in rounds for fault in _faults(round)]
    if worst > APART:
        faults.append(f"event times and wall clock are {worst:.1%} apart, at most {APART:.0%} is allowed")
    rows = [(name, f"{value:+.2%}") for name, value in apart.items()]
    return Finding(
        seen=f"at most {worst:.2%} apart, over {len(rounds)} rounds",
        faults=tuple(dict.fromkeys(faults)),
        tables=(Table(("time", "events / wall clock − 1"), rows),),
        figures={"apart": apart, "rounds": len(rounds)},
    )


def _undisturbed(stand: Stand, arm: Arm) -> list[tuple[Request, float]]:
    """Per request: Σ step_us against the wall clock from the first to the last round, read when the GPU is idle."""
    found = []
    for job in stand.jobs(arm, REQUESTS + 1, WORDS, TOKENS):
        ticks: list[int] = []

        def tick(_: Round, ticks: list[int] = ticks) -> None:
            stand.synchronise()
            ticks.append(perf_counter_ns())

        (request,) = stand.engine(arm).generate([replace(job, on_round=tick)])
        steps_us = sum(round.step_us or 0 for round in request.rounds[1:])
        found.append((request, steps_us * 1000 / (ticks[-1] - ticks[0]) - 1))
    return found[1:]  # the first warms up


def _parts(stand: Stand) -> dict[str, float]:
    """Of the draft model's rounds: drafting alone and verification alone."""
    clock, arm = Both(stand), ARMS[0]
    list(stand.engine(arm, clock=clock).generate(stand.jobs(arm, REQUESTS, WORDS, TOKENS)))
    return {"drafting": _apart(clock.pairs[1::3]), "verification": _apart(clock.pairs[2::3])}


def _apart(pairs: Sequence[tuple[int, int]]) -> float:
    return sum(events for events, _ in pairs) / sum(wall for _, wall in pairs) - 1


def _faults(round: Round) -> list[str]:
    draft, verify, step = round.draft_us or 0, round.verify_us or 0, round.step_us or 0
    found = [f"draft + verify is {draft + verify} µs in a step of {step} µs"] if draft + verify > step else []
    if round.proposed and draft <= 0:
        found.append(f"drafting {round.proposed} tokens took {draft} µs")
    return [*found, f"a verification took {verify} µs"] if verify <= 0 else found


class Both:
    """The engine's clock, and beside it the host's after everything before the mark has happened. `pairs` has, for the
    gap, the draft and the verification of each round in turn, the nanoseconds by either."""

    live = False

    def __init__(self, stand: Stand) -> None:
        self._stand, self._clock = stand, stand.clock
        self.pairs: list[tuple[int, int]] = []

    def mark(self) -> tuple[Any, int]:
        mark = self._clock.mark()
        self._stand.synchronise()
        return mark, perf_counter_ns()

    def settle(self, mark: tuple[Any, int]) -> None:
        self._clock.settle(mark[0])

    def between(self, start: tuple[Any, int], end: tuple[Any, int]) -> int:
        by_clock = self._clock.between(start[0], end[0])
        self.pairs.append((by_clock, end[1] - start[1]))
        return by_clock
