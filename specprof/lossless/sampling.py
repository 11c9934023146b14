"""The tests of one sampling arm, each of which a lossless arm passes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from specprof.analysis.estimate import Estimate
from specprof.lossless.answers import Answers
from specprof.lossless.chi_square import ChiSquare, goodness_of_fit, homogeneity
from specprof.lossless.difference import paired
from specprof.lossless.oracle import BINS, Answer, Oracle, ranks
from specprof.lossless.prefixes import next_tokens, shared_prefixes

TESTS: Mapping[str, str] = {
    "first": "first token against the target's distribution",
    "next": "next token after shared prefixes, against the target's distribution",
    "rank": "every token: its place among the target's choices",
    "first-baseline": "first token against the baseline's",
    "next-baseline": "next token after shared prefixes, against the baseline's",
    "log-probability": "the target's log-probability per token, minus the baseline's",
    "length": "tokens per answer, minus the baseline's",
}
ABSOLUTE = ("first", "next", "rank")  # these trust that the target scores as it decodes


@dataclass(frozen=True, slots=True)
class Check:
    """`p` is None where nothing could be tested; `reason` says why a test does not count. `p_holm` is corrected for
    all tests of all arms; `detectable` is the smallest total variation that the test finds with 80 %."""

    name: str
    p: float | None
    chi_square: ChiSquare | None = None
    difference: Estimate | None = None
    reason: str | None = None
    p_holm: float | None = None
    detectable: float | None = None

    @property
    def counts(self) -> bool:
        return self.reason is None


def arm_tests(ours: Answers, theirs: Answers, oracle: Oracle | None, seed: int) -> list[Check]:
    """Every test of an arm against the baseline and, where the engine scores, against the target itself."""
    absolute = against_target(ours, oracle, seed) if oracle else []
    return [*absolute, *_against_baseline(ours, theirs, oracle)]


def against_target(ours: Answers, oracle: Oracle, seed: int) -> list[Check]:
    """`seed` places each token inside its own mass."""
    fits: dict[str, list[ChiSquare]] = {"first": [], "next": []}
    for prompt, prefix in _places(ours, ours):
        counts = next_tokens(ours.ids(prompt), prefix)
        fits["next" if prefix else "first"].append(goodness_of_fit(counts, oracle.next_token(prompt, prefix)))
    scored = (oracle.scored(request.prompt_id, request.output_ids) for request in ours if request.output_ids)
    spread = ranks(scored, np.random.default_rng(seed))
    fits["rank"] = [goodness_of_fit(spread, np.full(BINS, 1 / BINS))]
    return [_chi_square(name, parts) for name, parts in fits.items()]


def _against_baseline(ours: Answers, theirs: Answers, oracle: Oracle | None) -> Iterator[Check]:
    parts: dict[str, list[ChiSquare]] = {"first-baseline": [], "next-baseline": []}
    for prompt, prefix in _places(ours, theirs):
        sides = (next_tokens(side.ids(prompt), prefix) for side in (ours, theirs))
        parts["next-baseline" if prefix else "first-baseline"].append(homogeneity(*sides))
    yield from (_chi_square(name, found) for name, found in parts.items())
    if oracle:
        yield _paired("log-probability", [_log_probabilities(side, oracle) for side in (ours, theirs)])
    yield _paired("length", [_lengths(side) for side in (ours, theirs)])


def _places(ours: Answers, theirs: Answers) -> Iterator[tuple[str, Answer]]:
    """The start of every answer and the shared prefixes, by prompt."""
    for prompt in ours.requests:
        yield prompt, ()
        yield from ((prompt, prefix) for prefix in shared_prefixes(ours.ids(prompt), theirs.ids(prompt)))


def _chi_square(name: str, parts: Iterable[ChiSquare]) -> Check:
    found = sum(parts, start=ChiSquare())
    if not found.df:
        return Check(name, None, found, reason="no place where two tokens are expected 5 times each")
    return Check(name, found.p, found)


def _paired(name: str, sides: Sequence[Mapping[str, list[float]]]) -> Check:
    ours, theirs = sides
    found = paired((values, theirs.get(prompt, [])) for prompt, values in ours.items())
    reason = (found.mean.reason or "no two answers differ in it") if found.p is None else None
    return Check(name, found.p, difference=found.mean, reason=reason)


def _log_probabilities(answers: Answers, oracle: Oracle) -> dict[str, list[float]]:
    return {
        prompt: [oracle.scored(prompt, r.output_ids).log_probability for r in requests if r.output_ids]
        for prompt, requests in answers.requests.items()
    }


def _lengths(answers: Answers) -> dict[str, list[float]]:
    return {prompt: [r.response_tokens for r in requests] for prompt, requests in answers.requests.items()}
