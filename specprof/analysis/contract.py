"""The report document: field names and nesting are the JSON contract `specprof.report/1`. Keys are only ever added."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from specprof.analysis.cost_report import CostReport
from specprof.analysis.estimate import Estimate
from specprof.analysis.latency import Latency
from specprof.analysis.measured import Measured
from specprof.analysis.round_times import TimePerRound

SCHEMA = "specprof.report/1"


@dataclass(frozen=True, slots=True)
class Rule:
    threshold: Estimate
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Cost:
    threshold: Estimate
    speedup: Estimate
    holds: bool | None
    regime: str | None


@dataclass(frozen=True, slots=True)
class BucketReport:
    """One row of the report. `task`, `prompt` and `response` are None where the row does not split by them."""

    task: str | None
    prompt: str | None
    response: str | None
    labels: Mapping[str, str | None]
    requests: int
    clusters: int
    rounds: int
    proposed: int
    drafted: int
    accepted: int
    emitted: int
    regenerations: int
    censored: int
    excluded: Mapping[str, int]
    mean_accepted: Estimate
    mean_accepted_drafting: Estimate
    mean_accepted_per_request: Estimate
    mean_accepted_capped: Estimate
    tokens_per_round: Estimate
    acceptance_rate: Estimate
    draft_coverage: Estimate
    accepted_p10: Estimate
    accepted_p50: Estimate
    accepted_p90: Estimate
    accepted_p99: Estimate
    survival: tuple[Estimate, ...]
    reached: tuple[int, ...]
    rule: Rule
    cost: Cost
    cost_per_round: Estimate
    measured: Measured | None
    latency: Latency
    time_per_round: TimePerRound
    affordable_overhead: Estimate
    below_break_even: Estimate
    largest_request_share: float | None
    verdict: str | None
    basis: str | None
    flags: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ArmReport:
    arm: str
    run_id: str | None
    method: str | None
    draft: str | None
    k: int | None
    schedule: str | None
    threshold: float | None
    options: Mapping[str, Any] | None
    temperature: float | None
    concurrency: int | None
    costs: tuple[CostReport, ...]
    overall: BucketReport
    tasks: tuple[BucketReport, ...]
    buckets: tuple[BucketReport, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """`runs` holds what each run says of itself, as JSON-ready mappings."""

    schema: str = field(default=SCHEMA, init=False)
    runs: tuple[Mapping[str, Any], ...]
    arms: tuple[ArmReport, ...]


def to_dict(report: Document | ArmReport | BucketReport) -> dict[str, Any]:
    """JSON-ready: dataclasses as objects, tuples as lists."""
    return {f.name: _plain(getattr(report, f.name)) for f in fields(report)}


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, tuple) else value
