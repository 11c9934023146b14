"""What a run will take and how sure it will be, before it is run: prompts, seconds and half-widths."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Any, Self

from scipy.special import stdtrit

from specprof.records import Arm, Prompt, drafter

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Cell:
    """The prompts of one task and one bucket of prompt lengths, None where lengths are unknown before the run.
    A cluster is a conversation, else a prompt: repeats of it add requests, not clusters."""

    task: str
    prompt: str | None
    prompts: int
    clusters: int

    def until(self, wanted: int | None) -> "Cell":
        """The part of it that is run where `wanted` clusters are enough; conversations count with their mean length."""
        if wanted is None or self.clusters <= wanted:
            return self
        return replace(self, prompts=round(self.prompts * wanted / self.clusters), clusters=wanted)


@dataclass(frozen=True, slots=True)
class Pace:
    """What an earlier run shows of an arm: mean seconds of a request, and the standard deviation of accepted per
    round between clusters. None where no request was timed, or where fewer than two clusters drafted."""

    requests: int
    seconds: float | None
    spread: float | None


@dataclass(frozen=True)
class Earlier:
    """The arms of an earlier run and their paces by (arm, task), (arm, None) being all its tasks. `target` and the
    most tokens of an answer are None where the run does not say."""

    arms: Mapping[str, Mapping[str, Any]]
    paces: Mapping[tuple[str, str | None], Pace]
    target: str | None
    max_tokens: int | None

    @classmethod
    def of(cls, info: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> Self:
        """`info` is `run.json`, `rows` are the requests of the run; those that statistics rest on count."""
        groups: dict[tuple[str, str | None], list[Mapping[str, Any]]] = defaultdict(list)
        for row in rows:
            if row["phase"] == "measure" and row["complete"] and row["finish_reason"] not in ("skipped", "error"):
                groups[row["arm"], row["task"]].append(row)
                groups[row["arm"], None].append(row)
        paces = {key: _pace(group) for key, group in groups.items()}
        return cls(info.get("arms", {}), paces, info.get("target"), info.get("max_new_tokens"))

    def nearest(self, arm: Arm) -> str | None:
        """Its arm with the same drafter and the nearest k."""
        wanted = drafter(arm.to_dict())
        same = {
            name: abs((other.get("k") or 0) - arm.k) for name, other in self.arms.items() if drafter(other) == wanted
        }
        return min(same, key=same.__getitem__, default=None)

    def pace(self, arm: Arm, task: str | None) -> Pace | None:
        """Of the nearest arm on the task, else on all its tasks."""
        name = self.nearest(arm)
        return None if name is None else self.paces.get((name, task), self.paces.get((name, None)))


def cells(prompts: Sequence[Prompt], bucket: Callable[[Prompt], str | None]) -> list[Cell]:
    """In the order in which they first appear."""
    found: dict[tuple[str, str | None], list[tuple[bool, str]]] = defaultdict(list)
    for prompt in prompts:
        found[prompt.task, bucket(prompt)].append(prompt.cluster)
    return [Cell(task, label, len(ids), len(set(ids))) for (task, label), ids in found.items()]


def half_width(spread: float, clusters: int) -> float | None:
    """Of the 95 % interval of a mean over clusters: t·s/√n with n−1 degrees of freedom. None below two clusters."""
    if clusters < 2:
        return None
    return float(stdtrit(clusters - 1, (1 + LEVEL) / 2)) * spread / math.sqrt(clusters)


def seconds(planned: Sequence[Cell], arm: Arm, repeats: int, earlier: Earlier) -> float | None:
    """What the requests of an arm take at the earlier run's pace; None where that shows no time."""
    total = 0.0
    for cell in planned:
        pace = earlier.pace(arm, cell.task)
        if pace is None or pace.seconds is None:
            return None
        total += cell.prompts * repeats * pace.seconds
    return total


def _pace(rows: Sequence[Mapping[str, Any]]) -> Pace:
    times = [row["latency_us"] / 1e6 for row in rows if row["latency_us"] is not None]
    accepted: dict[tuple[str | None, str | None], list[float]] = defaultdict(list)
    for row in rows:
        if row["rounds"]:
            conversation = row["conversation_id"]
            cluster = (conversation, None if conversation else row["prompt_id"])
            accepted[cluster].append(row["accepted_total"] / row["rounds"])
    means = [fmean(values) for values in accepted.values()]
    return Pace(len(rows), fmean(times) if times else None, stdev(means) if len(means) > 1 else None)
