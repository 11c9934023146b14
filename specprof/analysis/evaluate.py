"""From runs to the report document: arms, their overall row, their tasks and their buckets."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from specprof.analysis.arm_flags import arm_flags
from specprof.analysis.buckets import DEFAULT_BY, Cell, cells, check_by, in_cell
from specprof.analysis.calibration import Calibration
from specprof.analysis.columns import equals
from specprof.analysis.contract import ArmReport, BucketReport, Document, to_dict
from specprof.analysis.cost import Costs
from specprof.analysis.cost_report import cost_report, mean_width
from specprof.analysis.frame import Frame
from specprof.analysis.intervals import Ints
from specprof.analysis.measured import reference_lengths
from specprof.analysis.pricing import Pricing, pricing
from specprof.analysis.row import bucket
from specprof.errors import UsageError, did_you_mean
from specprof.records import BASELINE

__all__ = ["ArmData", "ArmReport", "BucketReport", "Document", "RunData", "arms_of", "bucket", "document", "to_dict"]

RUN_KEYS = ("run_id", "engine", "engine_version", "target", "draft", "device", "dtype", "threads", "machine", "notes")


@dataclass(frozen=True)
class RunData:
    """What the store read: `run.json`, the run's effective state, its requests, and the files that were left out."""

    info: Mapping[str, Any]
    state: str
    table: pa.Table
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class ArmData:
    """One arm's requests and those of the run's baseline, None in a run without one. `lengths` are the response
    lengths by which its requests are compared with the baseline, `costs` those of each regime, `raised` the flags that
    it raises on every row."""

    id: str
    info: Mapping[str, Any]
    frame: Frame
    baseline: Frame | None
    lengths: Ints
    costs: tuple[Costs, ...]
    raised: Collection[str]

    def row(self, cell: Cell) -> BucketReport:
        """The row of a cell. Pairs are bucketed by the baseline's response length, everything else by its own."""
        frame, baseline = self.frame, self.baseline
        # the length of an unfinished or skipped answer says nothing: such a request is in no bucket of lengths
        known = frame.counted if cell.response is not None else np.ones(len(frame), dtype=np.bool_)
        by_length = baseline is not None and cell.response is not None
        return bucket(
            frame.select(known & in_cell(frame, cell, frame.requests.response_tokens)),
            None if baseline is None else baseline.select(in_cell(baseline, cell, baseline.requests.response_tokens)),
            self.costs,
            cell=cell,
            paired=frame.select(known & in_cell(frame, cell, self.lengths)) if by_length else None,
            raised=self.raised,
            reference=self.id == BASELINE,
        )


def document(
    runs: Sequence[RunData],
    *,
    costs: Costs | Calibration | None = None,
    by: Sequence[str] = DEFAULT_BY,
    arms: Sequence[str] | None = None,
) -> Document:
    """The report on every arm but the baseline, or on `arms` alone (which may name it). Without `costs` a run is priced
    by its own calibration. Raises `UsageError` for an arm that no run has and for an unknown key in `by`."""
    of_runs = [(run, arms_of(run, costs)) for run in runs]
    every = [arm for _, of_run in of_runs for arm in of_run]
    by = check_by(by, {name for arm in every for name in arm.frame.labels})
    _check_arms(arms or (), [arm.id for arm in every])
    return Document(
        runs=tuple(
            {key: run.info.get(key) for key in RUN_KEYS} | {"state": run.state, "problems": list(run.problems)}
            for run in runs
        ),
        arms=tuple(
            _report(run, arm, by)
            for run, of_run in of_runs
            for arm in of_run
            if (arm.id in arms if arms else arm.id != BASELINE)
        ),
    )


def arms_of(run: RunData, costs: Costs | Calibration | None) -> list[ArmData]:
    """The arms in the order of `run.json`, then those that only the requests name; the baseline among them. `costs` go
    before the run's own calibration."""
    frame, infos = Frame.of(run.table), run.info.get("arms", {})
    ids = dict.fromkeys([*infos, *sorted(set(frame.requests.arm))])
    frames = {name: frame.select(equals(frame.requests.arm, name)) for name in ids}
    plain = frames.get(BASELINE)
    if plain is not None and not plain.counted.any():
        plain = None
    price = pricing(run.info, costs)
    return [_arm(name, run.info, frames[name], None if name == BASELINE else plain, price) for name in ids]


def _arm(name: str, run: Mapping[str, Any], frame: Frame, plain: Frame | None, price: Pricing) -> ArmData:
    info = run.get("arms", {}).get(name, {})
    costs = () if name == BASELINE else price(info)
    lengths = frame.requests.response_tokens
    if plain is not None:
        lengths = reference_lengths(frame.requests, plain.requests.take(plain.counted))
    return ArmData(name, info, frame, plain, lengths, costs, arm_flags(name, info, run, costs))


def _check_arms(wanted: Sequence[str], known: Sequence[str]) -> None:
    for name in wanted:
        if name not in known:
            arms = ", ".join(dict.fromkeys(known)) or "none"
            raise UsageError(f"no run has the arm `{name}`", did_you_mean(name, known, f"arms: {arms}"))


def _report(run: RunData, arm: ArmData, by: Sequence[str]) -> ArmReport:
    counted = arm.frame.select(arm.frame.counted)
    keys = ("method", "draft", "k", "schedule", "threshold", "options", "temperature", "concurrency")
    return ArmReport(
        arm=arm.id,
        run_id=run.info.get("run_id"),
        **{key: arm.info.get(key) for key in keys},
        costs=tuple(cost_report(one, mean_width(counted)) for one in arm.costs),
        overall=arm.row(Cell()),
        tasks=tuple(arm.row(cell) for cell in cells(arm.frame, ("task",))),
        buckets=tuple(arm.row(cell) for cell in cells(counted, by)),
    )
