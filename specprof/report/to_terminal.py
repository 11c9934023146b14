"""The report for people: a decision table of at most 100 columns, and everything else on demand."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from specprof.analysis.evaluate import ArmReport, BucketReport, Document, to_dict
from specprof.report import cells

WIDTH = 100
COLOURS = {"enable": "green", "disable": "red", "neutral": "cyan", "undecided": "yellow", "unpriced": "yellow"}


def show(document: Document, *, detail: bool = False, buckets: bool = False, console: Console | None = None) -> None:
    """Print to stdout. Off a terminal the width is 100."""
    console = console or Console()
    if not console.is_terminal or console.width > WIDTH:
        console = Console(file=console.file, width=WIDTH, no_color=console.no_color)
    for run in document.runs:
        console.print(Text(cells.run_line(run)))
    if not document.arms:
        console.print("no arm but the baseline: `--arm baseline` shows it")
    for arm in document.arms:
        console.print()
        console.print(Text(cells.title(arm), style="bold"))
        console.print(_decision_table(cells.decision_rows(arm, buckets), narrow=console.width < WIDTH))
        for note in cells.footnotes(arm, buckets):
            console.print(Text(note, style="dim"))
        if detail:
            _details(console, arm)


def _decision_table(rows: Sequence[BucketReport], narrow: bool) -> Table:
    """A narrow one puts each interval below its value."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("task", overflow="fold", min_width=8, max_width=26)
    for heading in ("n", "accepted/round [95 %]", "p10", "needs", "speed-up [95 %]"):
        table.add_column(_stacked(heading, narrow), justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for row in rows:
        cell = cells.decision(row)
        verdict = Text(cell.verdict, style=COLOURS.get(cell.verdict, ""))
        if row.basis:
            verdict.append(f" ({cell.basis})", style="dim")
        accepted, speedup = _stacked(cell.accepted, narrow), _stacked(cell.speedup, narrow)
        table.add_row(Text(cell.task), cell.n, accepted, cell.p10, cell.needs, speedup, verdict)
    return table


def _stacked(text: str, narrow: bool) -> Text:
    return Text(text.replace(" [", "\n[") if narrow else text)


def _details(console: Console, arm: ArmReport) -> None:
    for row in [*arm.tasks, arm.overall, *arm.buckets]:
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_header=False)
        table.add_column("figure", no_wrap=True)
        table.add_column("value", overflow="fold")
        for name, value in cells.figures(to_dict(row)):
            table.add_row(name, value)
        console.print(Text(f"\n{cells.label(row)}", style="bold"))
        console.print(table)
