"""From figures to an outcome. A check that could not have failed is never passed."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from specprof.lossless.difference import holm
from specprof.lossless.greedy import Greedy
from specprof.lossless.sampling import ABSOLUTE, Check

LEVEL = 0.01  # chance that any arm of a lossless engine is called lossy
RESOLUTION = 0.1


@dataclass(frozen=True, slots=True)
class Verdict:
    """`outcome` is lossless, lossy or inconclusive; `evidence` says why, a sentence each."""

    outcome: str
    evidence: tuple[str, ...] = ()


def judge_greedy(found: Greedy, drafted: Mapping[str, int], resolution: float = RESOLUTION) -> Verdict:
    bugs = [d for d in found.divergences if d.judgement == "bug"]
    if bugs:
        return Verdict("lossy", (f"{len(bugs)} answers part from the baseline where rounding does not explain it",))
    doubts = list(_unused(drafted))
    if unjudged := sum(d.judgement == "unjudged" for d in found.divergences):
        doubts.append(f"{unjudged} answers differ and the target's logits there are not known: verify with the model")
    if found.detectable > resolution:
        wanted = math.ceil(math.log(0.2) / math.log(1 - resolution))
        doubts.append(f"{found.identical.n or 0} answers are too few: {wanted} would show a fault in {resolution:.0%}")
    return Verdict("inconclusive", tuple(doubts)) if doubts else Verdict("lossless")


def judge_sampled(tests: Sequence[Check], drafted: Mapping[str, int], resolution: float = RESOLUTION) -> Verdict:
    failed = [test for test in tests if test.p_holm is not None and test.p_holm < LEVEL]
    if failed:
        return Verdict("lossy", tuple(_evidence(test) for test in failed))
    doubts = [*_unused(drafted), *_blind(tests, resolution)]
    return Verdict("inconclusive", tuple(doubts)) if doubts else Verdict("lossless")


def corrected(arms: Mapping[str, Sequence[Check]]) -> dict[str, list[Check]]:
    """The tests with `p_holm` and `detectable`, over all arms together."""
    p_values = {f"{arm}/{t.name}": t.p for arm, tests in arms.items() for t in tests if t.counts and t.p is not None}
    adjusted = holm(p_values)
    level = LEVEL / max(1, len(p_values))  # the first step of Holm: no test is held to less
    return {
        arm: [
            replace(
                test,
                p_holm=adjusted.get(f"{arm}/{test.name}"),
                detectable=test.chi_square.detectable(level) if test.chi_square else None,
            )
            for test in tests
        ]
        for arm, tests in arms.items()
    }


def void(tests: Sequence[Check], control: Sequence[Check]) -> list[Check]:
    """Tests against the target do not count where plain decoding fails the same one: there the scores are off."""
    off = {test.name for test in control if test.p is not None and test.p < LEVEL / len(ABSOLUTE)}
    reason = "the baseline fails it too: the target scores otherwise than it decodes"
    return [replace(test, reason=reason) if test.name in off else test for test in tests]


def _unused(drafted: Mapping[str, int]) -> Iterator[str]:
    if not drafted["accepted"]:
        yield f"none of {drafted['drafted']} draft tokens reached an answer: what was compared is plain decoding"


def _blind(tests: Sequence[Check], resolution: float) -> Iterator[str]:
    """The first token must be tested finely enough; the later places are extra."""
    able = [t for t in tests if t.name in ("first", "first-baseline") and t.counts and t.detectable is not None]
    if not able:
        yield "the first token could not be tested: add samples, or raise the temperature"
        return
    finest = min(test.detectable or 1.0 for test in able)
    if finest > resolution:
        factor = math.ceil((finest / resolution) ** 2)
        yield (
            f"a total variation below {finest:.2f} at the first token can go unseen, {resolution:g} is asked: "
            f"take about {factor} times the samples"
        )


def _evidence(test: Check) -> str:
    found = test.chi_square
    if found:
        seen = f"total variation {found.distance:.2f} where chance gives {found.chance:.2f}"
        return f"{test.name}: {seen} (p = {test.p_holm:.1g})"
    value = test.difference.value if test.difference else None
    return f"{test.name}: differs by {value or 0:+.3g} (p = {test.p_holm:.1g})"
