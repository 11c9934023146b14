"""A result as lines for people, at most 100 columns where no name is long."""

from collections.abc import Iterator

from specprof.analysis.estimate import Estimate
from specprof.lossless.greedy import Divergence
from specprof.lossless.judge import LEVEL
from specprof.lossless.result import ArmResult, Result
from specprof.lossless.sampling import TESTS, Check

SHOWN = 5  # divergences per arm; the JSON has them all
READING = (
    "seen, chance: total variation, and what a lossless arm shows on average",
    "finds: the smallest total variation that these samples show with 80 %",
    f"p (Holm): corrected for all tests of all arms; an arm with one below {LEVEL:g} is lossy",
)


def render(result: Result) -> Iterator[str]:
    """Arm by arm; then how to read the figures, and the outcome."""
    for arm in result.arms:
        yield from lines(arm)
        yield ""
    if result.temperature:
        yield from (f"{name}: {sentence}" for name, sentence in TESTS.items())
        yield from READING
    yield from (f"left out: {count} × {reason}" for reason, count in result.left_out.items())
    yield f"verify: {result.outcome}"


def lines(result: ArmResult) -> Iterator[str]:
    """One arm: its outcome and why, then the figures."""
    kept = f"{result.drafted['accepted']:,} of {result.drafted['drafted']:,} draft tokens kept"
    yield f"{result.verdict.outcome:<12} {result.arm.id}: {result.answers:,} answers, {kept}"
    yield from (f"  {sentence}" for sentence in result.verdict.evidence)
    yield from (f"  left out: {count} × {reason}" for reason, count in result.left_out.items())
    if result.greedy:
        yield from _greedy_lines(result)
    if result.tests:
        yield f"  {'test':<18}{'n':>8}{'seen':>9}{'chance':>9}{'finds':>9}{'p (Holm)':>11}"
        yield from (f"  {line}" for line in map(_test_line, result.tests))


def _greedy_lines(result: ArmResult) -> Iterator[str]:
    assert result.greedy is not None
    for name, found in (("identical", result.greedy.identical), ("same length", result.greedy.same_length)):
        yield f"  {name} {_share(found)}"
    yield f"  finds, with 80 %, a fault that changes {result.greedy.detectable:.1%} of the answers"
    parted = result.greedy.divergences
    yield from (f"  {_divergence(d)}" for d in parted[:SHOWN])
    if len(parted) > SHOWN:
        yield f"  and {len(parted) - SHOWN} more: `--json` shows them"


def _share(found: Estimate) -> str:
    if found.value is None or found.low is None or found.high is None:
        return f"– ({found.reason})"
    return f"{found.value:.1%} [{found.low:.1%}, {found.high:.1%}] of {found.n}"


def _divergence(found: Divergence) -> str:
    where = f"prompt `{found.prompt}`"
    if found.position is not None:
        where += f" token {found.position}: {found.ours} for {found.theirs}"
    if found.gap is None or found.shortfall is None or found.tolerance is None:
        return f"{where}, {found.judgement}"
    figures = f"top-2 gap {found.gap:.3g}, chosen {found.shortfall:.3g} below the best, tolerance {found.tolerance:g}"
    return f"{where}, {figures}: {found.judgement}"


def _test_line(test: Check) -> str:
    if not test.counts:
        return f"{test.name:<18}{'–':>8}  {test.reason}"
    found, p = test.chi_square, f"{test.p_holm:>11.2g}"
    if found:
        return f"{test.name:<18}{found.n:>8,.0f}{found.distance:>9.3f}{found.chance:>9.3f}{test.detectable:>9.3f}{p}"
    difference = test.difference or Estimate.missing("")
    interval = f"[{difference.low or 0:+.3f}, {difference.high or 0:+.3f}]"
    return f"{test.name:<18}{difference.value or 0:>17.3f}{interval:>18}{p}"
