"""`specprof run --dry-run`: what would be run, how long it would take and how sure its figures would be."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from specprof.capture.forecast import Cell, Earlier, cells, half_width, seconds
from specprof.capture.promises import counter
from specprof.engines.base import Engine
from specprof.lengths import PROMPT_EDGES, length_label
from specprof.records import BASELINE, Arm, EngineConfig, Prompt

WIDTH = 100
NONE = "–"
COLUMNS = (
    *("prompt_id", "conversation_id", "arm", "task", "phase", "complete", "finish_reason"),
    *("latency_us", "accepted_total", "rounds"),
)
NO_PACE = (
    "minutes: not known without a measurement. Run 5 prompts per task first with `--limit 5 --out runs/pilot`, then "
    "plan with `--dry-run --like runs/pilot`"
)
NO_SPREAD = (
    "the half-widths assume that accepted/round differs between prompts by 1 token (standard deviation); `--like` "
    "takes the spread that an earlier run shows"
)
NO_WIDTH = f"{NONE}: fewer than two clusters, here or in the earlier run: no spread to go by"
UNCOUNTED = (
    "prompt lengths that are not known: this engine cannot count tokens before a run, or the prompt is a turn that "
    "follows an answer still to be given"
)


@dataclass(frozen=True)
class Plan:
    """What is asked for; `bucket` names the bucket of a prompt's length, None where it cannot be told yet."""

    config: EngineConfig
    prompts: Sequence[Prompt]
    bucket: Callable[[Prompt], str | None]
    repeats: int
    warmup: int
    until: int | None

    @cached_property
    def cells(self) -> list[Cell]:
        return cells(self.prompts, self.bucket)

    @cached_property
    def planned(self) -> list[Cell]:
        return [cell.until(self.until) for cell in self.cells]


def bucket_of(engine: Engine) -> Callable[[Prompt], str | None]:
    """The bucket of a prompt's length as the engine counts it; call it after `check`."""
    count = counter(engine)

    def bucket(prompt: Prompt) -> str | None:
        return None if prompt.follows is not None or count is None else length_label(count(prompt), PROMPT_EDGES)

    return bucket


def show(plan: Plan, like: Path | None) -> None:
    """Print to stdout; nothing is run and nothing is written. `like` is an earlier run."""
    earlier = None if like is None else _read(like)
    console = Console()
    if not console.is_terminal or console.width > WIDTH:
        console = Console(width=WIDTH, no_color=console.no_color)
    console.print(Text(_sentence(plan)))
    console.print(_table(("arm", "method", "draft", "k", "schedule", "options"), map(_arm_row, plan.config.arms)))
    short = () if plan.until is None else (f"short of {plan.until}",)
    console.print(_table(("task", "prompt tokens", "prompts", "clusters", *short), _cell_rows(plan)))
    arms = [arm for arm in plan.config.arms if arm.id != BASELINE]
    console.print(Text("expected half-width of accepted/round (95 %):"))
    heading = [arm.id for arm in arms] if earlier else ["any arm"]
    widths = list(_width_rows(plan, arms, earlier))
    console.print(_table(("task", "clusters", *heading), widths))
    if any(NONE in row for row in widths):
        console.print(Text(NO_WIDTH))
    for line in _notes(plan, like, earlier):
        console.print(Text(line))


def _read(path: Path) -> Earlier:
    from specprof.store.read import read_run

    run = read_run(path, columns=COLUMNS)
    return Earlier.of(run.info, run.table.to_pylist())


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in headings:
        table.add_column(Text(heading), overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _sentence(plan: Plan) -> str:
    prompts, arms, config = sum(cell.prompts for cell in plan.planned), len(plan.config.arms), plan.config
    repeated = f" × {plan.repeats} repeats" if plan.repeats > 1 else ""
    length = f"{config.max_tokens} new tokens each"
    if not config.fixed_length:
        length = f"at most {config.max_tokens} new tokens where a prompt sets none"
    return (
        f"{prompts * plan.repeats * arms} requests: {prompts} prompts{repeated} × {arms} arm{'s' * (arms > 1)}; "
        f"{plan.warmup * arms} more to warm up; {length}"
    )


def _arm_row(arm: Arm) -> tuple[str, ...]:
    if arm.id == BASELINE:
        return (arm.id, arm.method, NONE, NONE, NONE, NONE)
    schedule = arm.schedule if arm.threshold is None else f"{arm.schedule} {arm.threshold:g}"
    options = ", ".join(f"{name}={value}" for name, value in arm.options.items())
    return (arm.id, arm.method, arm.draft or NONE, str(arm.k), schedule, options or NONE)


def _cell_rows(plan: Plan) -> Iterator[tuple[str, ...]]:
    for cell, run in zip(plan.cells, plan.planned, strict=True):
        short = () if plan.until is None else (str(max(0, plan.until - cell.clusters)),)
        yield (cell.task, cell.prompt or "not known", str(run.prompts), str(run.clusters), *short)


def _width_rows(plan: Plan, arms: Sequence[Arm], earlier: Earlier | None) -> Iterator[tuple[str, ...]]:
    whole = cells(plan.prompts, lambda prompt: None)  # a conversation may lie in several buckets
    counts = {
        cell.task: min(cell.clusters, sum(part.clusters for part in plan.planned if part.task == cell.task))
        for cell in whole
    }
    rows: list[tuple[str | None, int]] = [*counts.items()]
    for task, clusters in [*rows, (None, sum(counts.values()))] if len(rows) > 1 else rows:
        widths = [_width(earlier, arm, task, clusters) for arm in arms] if earlier else [half_width(1.0, clusters)]
        yield (task or "all", str(clusters), *(NONE if width is None else f"± {width:.2f}" for width in widths))


def _width(earlier: Earlier, arm: Arm, task: str | None, clusters: int) -> float | None:
    pace = earlier.pace(arm, task)
    return None if pace is None or pace.spread is None else half_width(pace.spread, clusters)


def _notes(plan: Plan, like: Path | None, earlier: Earlier | None) -> Iterator[str]:
    if any(cell.prompt is None for cell in plan.planned):
        yield UNCOUNTED
    if earlier is None:
        yield NO_SPREAD
        yield NO_PACE
        return
    if plan.config.model and earlier.target and earlier.target != plan.config.model:
        yield f"`{like}` is a run of `{earlier.target}`, not of `{plan.config.model}`: its times and spreads are others"
    if earlier.max_tokens is None:
        yield f"`{like}` does not say how long its answers could be: its times may be others"
    elif earlier.max_tokens != plan.config.max_tokens:
        yield f"`{like}` had answers of at most {earlier.max_tokens} tokens, not {plan.config.max_tokens}: times differ"
    yield from _stand_ins(plan.config.arms, earlier, like)
    times = [seconds(plan.planned, arm, plan.repeats, earlier) for arm in plan.config.arms]
    known = sum(time for time in times if time is not None)
    if known:
        yield f"about {known / 60:.1f} minutes at the pace of `{like}`, without loading models and measuring costs"


def _stand_ins(arms: Sequence[Arm], earlier: Earlier, like: Path | None) -> Iterator[str]:
    for arm in arms:
        nearest = earlier.nearest(arm)
        pace = earlier.pace(arm, None)
        if nearest is None or pace is None or pace.seconds is None:
            yield f"`{like}` has no times of an arm like `{arm.id}`: it is not in the minutes"
        elif (k := earlier.arms[nearest].get("k") or 0) != arm.k:
            yield f"`{arm.id}` goes by `{nearest}` of `{like}`, which drafts {k}"
