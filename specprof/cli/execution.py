"""What `specprof run` does once it knows what is wanted: look before, run, and say what to type next."""

import shlex
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from specprof.cli.log import log

if TYPE_CHECKING:
    from specprof.capture.session import Spec
    from specprof.engines.base import Engine
    from specprof.records import EngineConfig, Request


def consult(driver: "Engine", config: "EngineConfig", folder: Path | None = None) -> None:
    """What `specprof doctor` finds: a blocker ends the command before it begins, a warning is logged."""
    from specprof.doctor import blockers, examine
    from specprof.errors import EnvironmentError_

    found = examine(driver, config, out=folder)
    for finding in found:
        if finding.level == "warning":
            log.warning("%s: %s%s", finding.value, finding.meaning, f" ({finding.hint})" if finding.hint else "")
    if blocking := blockers(found):
        reasons = "; ".join(f"{finding.value}: {finding.meaning}" for finding in blocking)
        raise EnvironmentError_(reasons, blocking[0].hint)


@dataclass
class Tally:
    """The measured requests that came back, and how many of them hold no answer, by reason."""

    requests: int = 0
    lost: Counter[str] = field(default_factory=Counter)

    def count(self, request: "Request") -> None:
        if request.phase == "measure":
            self.requests += 1
            if request.finish_reason in ("skipped", "error"):
                self.lost[", ".join(request.excluded) or request.finish_reason] += 1

    def sentence(self) -> str:
        reasons = "; ".join(f"{reason} ({count})" for reason, count in self.lost.most_common())
        return f"{self.lost.total()} of {self.requests} requests have no answer: {reasons}"


def measure(driver: "Engine", spec: "Spec", folder: Path, resume: bool, skip_bad: bool) -> None:
    from specprof.capture.session import execute
    from specprof.capture.until import sentences
    from specprof.cli.progress import Progress

    quoted = shlex.quote(str(folder))
    tally = Tally()
    try:
        with Progress() as progress:

            def on_request(request: "Request", done: int, total: int) -> None:
                tally.count(request)
                progress(request, done, total)

            info = execute(driver, spec, folder, go_on=resume, skip_bad=skip_bad, on_request=on_request)
    except KeyboardInterrupt:
        if (folder / "run.json").exists():
            typer.echo(f"what was measured is kept in {folder}", err=True)
            typer.echo(f"hint: repeat the command with `--out {quoted} --resume` to do the rest", err=True)
        raise
    if tally.lost:
        log.warning(tally.sentence())
    for line in sentences(info["until"]) if spec.until else ():
        typer.echo(line)
    typer.echo(f"specprof report {quoted}")
