"""One rule: a line of text that parses to an object which judges an estimate.

Grammar: `[buckets] [key=value[,key=value…]:] METRIC OP NUMBER`. A rule `m > c` passes when the whole interval lies
above c, fails when it lies at or below, and is inconclusive in between; `.value`, `.low`, `.high` compare one number.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from specprof.analysis.estimate import Estimate
from specprof.errors import UsageError, did_you_mean

Result = Literal["pass", "fail", "inconclusive"]

KEYS = ("arm", "task", "prompt", "response")
PARTS = ("value", "low", "high")
_RULE = re.compile(
    r"\s*(?:(?P<buckets>buckets)(?=\s|:)\s*)?(?:(?P<where>.*):)?\s*"
    r"(?P<metric>[A-Za-z_][\w.]*)\s*(?P<op>>=|<=|>|<)\s*(?P<bound>\S+)\s*"
)
EXAMPLE = "write it as `task=code: mean_accepted > 1.2`; operators: > >= < <="


@dataclass(frozen=True)
class Rule:
    """One promise. `part` is set where the rule names `.value`, `.low` or `.high`."""

    text: str
    metric: str
    op: str
    bound: float
    part: str | None = None
    buckets: bool = False
    where: Mapping[str, str] = field(default_factory=dict)

    def judge(self, estimate: Estimate) -> Result:
        """The outcome on one estimate; null where the comparison needs a number is inconclusive."""
        if self.part is not None:
            number = getattr(estimate, self.part)
            if number is None:
                return "inconclusive"
            return "pass" if _holds(number, self.op, self.bound) else "fail"
        if estimate.low is None or estimate.high is None:
            return "inconclusive"
        ends = [_holds(end, self.op, self.bound) for end in (estimate.low, estimate.high)]
        return "pass" if all(ends) else "inconclusive" if any(ends) else "fail"


def parse(text: str) -> Rule:
    """Read one rule. Raises `UsageError` with the rule and what is wrong with it."""
    match = _RULE.fullmatch(text)
    if match is None:
        raise UsageError(f"cannot read the rule `{text}`", EXAMPLE)
    try:
        bound = float(match["bound"])
    except ValueError:
        raise UsageError(f"rule `{text}`: `{match['bound']}` is not a number", EXAMPLE) from None
    if not math.isfinite(bound):
        raise UsageError(f"rule `{text}`: the bound must be finite", EXAMPLE)
    metric, dot, last = match["metric"].rpartition(".")
    part = last if dot and last in PARTS else None
    return Rule(
        text=text.strip(),
        metric=metric if part else match["metric"],
        op=match["op"],
        bound=bound,
        part=part,
        buckets=match["buckets"] is not None,
        where=_once(text, list(_conditions(text, match["where"] or ""))),
    )


def _conditions(text: str, where: str) -> Iterator[tuple[str, str]]:
    for item in filter(None, (piece.strip() for piece in where.split(","))):
        key, equals, value = (piece.strip() for piece in item.partition("="))
        if not equals or not value:
            raise UsageError(f"rule `{text}`: `{item}` is not `key=value`", EXAMPLE)
        if key not in KEYS and not key.startswith("label."):
            raise UsageError(
                f"rule `{text}`: unknown key `{key}`",
                did_you_mean(key, KEYS, f"keys: {', '.join(KEYS)}, label.NAME"),
            )
        yield key, value


def _once(text: str, conditions: list[tuple[str, str]]) -> dict[str, str]:
    where = dict(conditions)
    if len(where) < len(conditions):
        raise UsageError(f"rule `{text}` names a key twice", "a row has one value per key; write two rules")
    return where


def _holds(number: float, op: str, bound: float) -> bool:
    return {">": number > bound, ">=": number >= bound, "<": number < bound, "<=": number <= bound}[op]
