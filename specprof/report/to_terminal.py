"""The report for people: a decision table of at most 100 columns, and everything else on demand."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from specprof.analysis.contract import ArmReport, Document, to_dict
from specprof.report.cells import figures
from specprof.report.decision_table import (
    DECIDES,
    FIGURES,
    HEADINGS,
    Decision,
    Place,
    columns,
    decision,
    flag_marks,
    label,
    places,
    run_line,
    tables,
    title,
)
from specprof.report.footnotes import cost_figures, footnotes

WIDTH = 100
COLOURS = {"enable": "green", "disable": "red", "neutral": "cyan", "undecided": "yellow", "unpriced": "yellow"}
SPEEDUPS = ("measured", "predicted")


def show(document: Document, *, detail: bool = False, buckets: bool = False, console: Console | None = None) -> None:
    """Print to stdout. Off a terminal the width is 100."""
    console = console or Console()
    if not console.is_terminal or console.width > WIDTH:
        console = Console(file=console.file, width=WIDTH, no_color=console.no_color)
    for index, (run, arms) in enumerate(tables(document)):
        console.print(Text(f"\n{run_line(run)}" if index else run_line(run)))
        if arms:
            _show_arms(console, arms, places(arms, buckets))
    if not document.arms:
        console.print("no arm but the baseline: `--arm baseline` shows it")
    for arm in document.arms if detail else ():
        _details(console, arm)


def _show_arms(console: Console, arms: Sequence[ArmReport], shown: Sequence[Place]) -> None:
    console.print()
    for arm in arms:
        console.print(Text(title(arm), style="bold"))
    console.print(_table(shown, narrow=console.width < WIDTH))
    for note in footnotes(arms, shown):
        console.print(Text(note, style="dim"))


def _table(shown: Sequence[Place], narrow: bool) -> Table:
    """With several arms, a line per task and below it one per arm. A narrow one puts each interval below its value."""
    rows, marks = [decision(place) for place in shown], flag_marks([place.row for place in shown])
    names = columns(rows)
    several = "arm" in names
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 0 if several else 1, 0, 0), pad_edge=False)
    table.add_column("task", overflow="fold", min_width=8, max_width=26)
    kept = [name for name in FIGURES if name in names]
    for name in kept:
        table.add_column(_stacked(HEADINGS[name], narrow), justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    task = None
    for place, row in zip(shown, rows, strict=True):
        if several and row.task != task:
            table.add_row(Text(row.task, style="bold"))
        task = row.task
        first = f" {row.arm}" if several else row.task
        cells = [_stacked(_figure(row, name), narrow) for name in kept]
        table.add_row(Text(first), *cells, _verdict(row, [marks[flag] for flag in place.row.flags]))
    return table


def _figure(row: Decision, name: str) -> str:
    """Compact; marked and unmarked speed-ups end at the same column."""
    text = str(getattr(row, name)).replace(", ", ",")
    return f"{text} " if name in SPEEDUPS and not text.endswith(DECIDES) else text


def _verdict(row: Decision, marks: Sequence[str]) -> Text:
    return Text(row.verdict, style=COLOURS.get(row.verdict, "")).append("".join(marks), style="dim")


def _stacked(text: str, narrow: bool) -> Text:
    return Text(text.replace(" [", "\n[") if narrow else text)


def _details(console: Console, arm: ArmReport) -> None:
    for costs in arm.costs:
        _detail(console, f"{arm.arm} · costs, {costs.regime}", cost_figures(costs))
    for row in [*arm.tasks, arm.overall, *arm.buckets]:
        _detail(console, f"{arm.arm} · {label(row)}", figures(to_dict(row)))


def _detail(console: Console, heading: str, lines: Iterable[tuple[str, str]]) -> None:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_header=False)
    table.add_column("figure", no_wrap=True)
    table.add_column("value", overflow="fold")
    for name, value in lines:
        table.add_row(name, value)
    console.print(Text(f"\n{heading}", style="bold"))
    console.print(table)
