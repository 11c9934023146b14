"""The outcomes as Markdown."""

from collections.abc import Iterator, Mapping, Sequence

from gpu_check.outcome import Outcome, Table


def render(machine: Mapping[str, str], outcomes: Sequence[Outcome], seconds: float) -> str:
    lines = ["# GPU check", "", *_table(Table(("", ""), list(machine.items()))), ""]
    rows = [(o.title, o.verdict, _seen(o), f"{o.seconds:.0f}") for o in outcomes]
    lines += [*_table(Table(("check", "verdict", "seen", "s"), rows)), "", f"Total time: {seconds:.0f} s."]
    return "\n".join([*lines, *(line for outcome in outcomes for line in _details(outcome))]) + "\n"


def _seen(outcome: Outcome) -> str:
    seen = outcome.finding.seen if outcome.finding else ""
    return "; ".join(part for part in (outcome.why, seen) if part)


def _details(outcome: Outcome) -> Iterator[str]:
    finding = outcome.finding
    if finding is None or not (finding.tables or finding.notes or finding.left_out):
        return
    yield from ("", f"## {outcome.title}")
    for table in finding.tables:
        yield from ("", *_table(table))
    for note in finding.notes:
        yield from ("", note)
    if finding.left_out:
        yield from ("", "Left out:", "", *(f"* {what}" for what in finding.left_out))


def _table(table: Table) -> list[str]:
    cells = [table.headings, ["---"] * len(table.headings), *table.rows]
    return [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in cells]
