"""The decision table in GitHub's Markdown, for a pull request or a job summary."""

from collections.abc import Iterator

from specprof.analysis.evaluate import ArmReport, Document
from specprof.report import cells


def render(document: Document) -> str:
    return "\n\n".join("\n".join(_arm(arm)) for arm in document.arms)


def _arm(arm: ArmReport) -> Iterator[str]:
    yield f"**{_escape(cells.title(arm))}**"
    yield ""
    yield _line(cells.DECISION)
    yield _line("---" for _ in cells.DECISION)
    for row in cells.decision_rows(arm):
        yield _line(cells.decision(row))


def _line(values: "Iterator[str] | list[str] | tuple[str, ...]") -> str:
    return f"| {' | '.join(_escape(value) for value in values)} |"


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
