"""The decision table in GitHub's Markdown, for a pull request or a job summary."""

from collections.abc import Iterable, Iterator

from specprof.analysis.evaluate import ArmReport, Document
from specprof.report import cells


def render(document: Document, *, buckets: bool = False) -> str:
    runs = [_escape(cells.run_line(run)) for run in document.runs]
    return "\n\n".join(["  \n".join(runs), *("\n".join(_arm(arm, buckets)) for arm in document.arms)])


def _arm(arm: ArmReport, buckets: bool) -> Iterator[str]:
    yield f"**{_escape(cells.title(arm))}**"
    yield ""
    yield _line(cells.DECISION)
    yield _line("---" for _ in cells.DECISION)
    for row in cells.decision_rows(arm, buckets):
        yield _line(_escape(cell) for cell in cells.decision(row))
    yield ""
    yield from (f"* {_escape(note)}" for note in cells.footnotes(arm, buckets))


def _line(values: Iterable[str]) -> str:
    return f"| {' | '.join(values)} |"


def _escape(text: str) -> str:
    """What Markdown would read as markup, as it is; one line."""
    for mark in "\\|*_<>":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())
