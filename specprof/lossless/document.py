"""A result as JSON, `specprof.verify/1`. Every estimate is a value with its interval."""

from dataclasses import asdict
from typing import Any

from specprof.analysis.estimate import Estimate
from specprof.lossless.chi_square import POWER, ChiSquare
from specprof.lossless.judge import LEVEL
from specprof.lossless.result import ArmResult, Result
from specprof.lossless.sampling import Check

DESCRIBED = ("engine", "engine_version", "target", "dtype", "device")


def to_dict(result: Result) -> dict[str, Any]:
    return {
        "schema": "specprof.verify/1",
        **{name: result.described.get(name) for name in DESCRIBED},
        "prompts": result.prompts,
        "left_out": dict(result.left_out),
        "samples": result.samples,
        "max_new_tokens": result.max_tokens,
        "temperature": result.temperature,
        "level": LEVEL,
        "power": POWER,
        "resolution": result.resolution,
        "outcome": result.outcome,
        "arms": [_arm(arm) for arm in result.arms],
    }


def _arm(result: ArmResult) -> dict[str, Any]:
    arm = result.arm
    return {
        "arm": arm.id,
        "method": arm.method,
        "draft": arm.draft,
        "k": arm.k,
        "schedule": arm.schedule,
        "outcome": result.verdict.outcome,
        "evidence": list(result.verdict.evidence),
        "answers": result.answers,
        **result.drafted,
        "left_out": dict(result.left_out),
        "greedy": None if result.greedy is None else asdict(result.greedy),
        "tests": [_test(test) for test in result.tests] or None,
    }


def _test(test: Check) -> dict[str, Any]:
    found = test.chi_square
    return {
        "test": test.name,
        "counts": test.counts,
        "reason": test.reason,
        "p": test.p,
        "p_holm": test.p_holm,
        "detectable": test.detectable,
        "difference": test.difference and asdict(test.difference),
        "chi_square": found and {**asdict(found), "distance": asdict(_distance(found))},
    }


def _distance(found: ChiSquare) -> Estimate:
    if not found.df:
        return Estimate.missing("no place where two tokens are expected 5 times each")
    return Estimate(found.distance, n=round(found.n), reason="the p-value says how far it is from chance")
