"""The decision table in GitHub's Markdown, for a pull request or a job summary."""

from collections.abc import Iterable, Iterator, Sequence

from specprof.analysis.contract import ArmReport, Document
from specprof.report.decision_table import HEADINGS, columns, decision, places, run_line, tables, title
from specprof.report.footnotes import footnotes


def render(document: Document, *, buckets: bool = False) -> str:
    parts = ((_escape(run_line(run)), arms) for run, arms in tables(document))
    return "\n\n".join("\n".join([line, "", *_table(arms, buckets)]) if arms else line for line, arms in parts)


def _table(arms: Sequence[ArmReport], buckets: bool) -> Iterator[str]:
    yield from (f"**{_escape(title(arm))}**  " for arm in arms)
    yield ""
    shown = places(arms, buckets)
    rows = [decision(place) for place in shown]
    names = columns(rows)
    yield _line(HEADINGS[name] for name in names)
    yield _line("---" for _ in names)
    for row in rows:
        yield _line(_escape(getattr(row, name)) for name in names)
    yield ""
    yield from (f"* {_escape(note)}" for note in footnotes(arms, shown, marked=False))


def _line(values: Iterable[str]) -> str:
    return f"| {' | '.join(values)} |"


def _escape(text: str) -> str:
    """What Markdown would read as markup, as it is; one line."""
    for mark in "\\|*_<>":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())
