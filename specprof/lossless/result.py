"""What a comparison found, arm by arm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from specprof.lossless.greedy import Greedy
from specprof.lossless.judge import Verdict
from specprof.lossless.sampling import Check
from specprof.records import Arm


@dataclass(frozen=True, slots=True)
class ArmResult:
    """Either `greedy` or `tests` is there."""

    arm: Arm
    verdict: Verdict
    answers: int
    drafted: Mapping[str, int]
    left_out: Mapping[str, int] = field(default_factory=dict)
    greedy: Greedy | None = None
    tests: Sequence[Check] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """`prompts` were compared; `left_out` counts those that were not, by reason."""

    described: Mapping[str, Any]
    prompts: int
    samples: int
    max_tokens: int | None
    temperature: float
    resolution: float
    arms: Sequence[ArmResult]
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def outcome(self) -> str:
        """The worst of the arms: lossy, else inconclusive, else lossless."""
        found = {result.verdict.outcome for result in self.arms}
        return next((o for o in ("lossy", "inconclusive") if o in found), "lossless" if found else "inconclusive")
