"""The decision table: one row per task and arm, arms of the same task next to each other."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from specprof.analysis.contract import ArmReport, BucketReport, Document
from specprof.records import FLAGS
from specprof.report.cells import MISSING, interval, number

HEADINGS: Mapping[str, str] = {
    "task": "task",
    "arm": "arm",
    "n": "n",
    "accepted": "accepted [95 %]",
    "p10": "p10",
    "needs": "needs",
    "measured": "measured [95 %]",
    "predicted": "predicted [95 %]",
    "verdict": "verdict",
    "basis": "basis",
    "flags": "flags",
}
MARKS = "¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉᶠᵍʰⁱʲ"  # as many as there are flags
DECIDES = "*"  # behind the speed-up that a verdict rests on
FIGURES = ("n", "accepted", "p10", "needs", "measured", "predicted")


class Decision(NamedTuple):
    """One row; its headings are `HEADINGS`."""

    task: str
    arm: str
    n: str
    accepted: str
    p10: str
    needs: str
    measured: str
    predicted: str
    verdict: str
    basis: str
    flags: str


@dataclass(frozen=True, slots=True)
class Place:
    """One row of the report and the arm that it belongs to."""

    arm: ArmReport
    row: BucketReport

    @property
    def name(self) -> str:
        return label(self.row)


def tables(document: Document) -> Iterator[tuple[Mapping[str, Any], list[ArmReport]]]:
    """Each run with its arms. Runs may have the same id: a run names each arm once."""
    rest = deque(document.arms)
    for run in document.runs:
        arms: dict[str, ArmReport] = {}
        while rest and rest[0].run_id == run["run_id"] and rest[0].arm not in arms:
            arm = rest.popleft()
            arms[arm.arm] = arm
        yield run, list(arms.values())


def places(arms: Sequence[ArmReport], buckets: bool) -> list[Place]:
    """The tasks, or with `buckets` the cells asked for, each with all arms that have it; then everything together."""
    every = [Place(arm, row) for arm in arms for row in (arm.buckets if buckets else arm.tasks)]
    order = {name: index for index, name in enumerate(dict.fromkeys(place.name for place in every))}
    return [*sorted(every, key=lambda place: order[place.name]), *(Place(arm, arm.overall) for arm in arms)]


def decision(place: Place) -> Decision:
    row = place.row
    return Decision(
        task=place.name,
        arm=place.arm.arm,
        n=f"{row.requests:,}",
        accepted=interval(row.mean_accepted),
        p10=number(row.accepted_p10.value),
        needs=number(row.cost.threshold.value),
        measured=interval(row.measured.decode if row.measured else None) + DECIDES * (row.basis == "measured"),
        predicted=interval(row.cost.speedup) + DECIDES * (row.basis == "cost"),
        verdict=row.verdict or MISSING,
        basis=row.basis or MISSING,
        flags=" ".join(row.flags),
    )


def columns(rows: Sequence[Decision]) -> list[str]:
    """Those that say something: an arm's name only beside another's, a speed-up only where one is known."""
    empty = {name for name in ("needs", "measured", "predicted") if all(getattr(row, name) == MISSING for row in rows)}
    if len({row.arm for row in rows}) < 2:
        empty.add("arm")
    return [name for name in HEADINGS if name not in empty]


def label(row: BucketReport) -> str:
    """The row's place: task, prompt and response bucket and labels that it fixes; `all` for the overall row."""
    labels = [value or f"no {name}" for name, value in row.labels.items()]
    parts = [row.task, row.prompt and f"p {row.prompt}", row.response and f"r {row.response}", *labels]
    return " · ".join(part for part in parts if part) or "all"


def title(arm: ArmReport) -> str:
    """What is known of an arm; an imported one may tell little."""
    known = {"method": arm.method, "k": arm.k, "threshold": arm.threshold, **(arm.options or {})}
    known |= {"draft": arm.draft, "temperature": arm.temperature}
    settings = ", ".join(f"{name} {value}" for name, value in known.items() if value is not None)
    return f"{arm.arm} ({settings})" if settings else arm.arm


def run_line(run: Mapping[str, Any]) -> str:
    parts = [str(run[key]) for key in ("run_id", "engine", "engine_version", "target") if run.get(key)]
    return " · ".join([*parts, f"state {run['state']}"])


def flag_marks(rows: Sequence[BucketReport]) -> dict[str, str]:
    """One small character for each flag that is raised: ¹, ², …"""
    raised = [flag for flag in FLAGS if any(flag in row.flags for row in rows)]
    return dict(zip(raised, MARKS, strict=False))
