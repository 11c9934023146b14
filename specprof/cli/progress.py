"""What a person sees while a run goes on; nothing where stderr is not a terminal."""

import logging
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from specprof.cli.log import log
from specprof.records import Request


class Progress:
    """A callable for `execute`: one bar, the task and arm of the last request beside it; with `-v` a line each."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.description:<28}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        shown = console.is_terminal and log.isEnabledFor(logging.WARNING)
        self._bar = Bar(*columns, console=console) if shown else None
        self._id = TaskID(0)

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
            self._id = self._bar.add_task("loading", total=None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, request: Request, done: int, total: int) -> None:
        log.info(
            "%d/%d %s %s %s %s: %d tokens in %d rounds",
            *(done, total, request.phase, request.task, request.prompt_id, request.arm),
            *(request.response_tokens, len(request.rounds)),
        )
        if self._bar:
            what = request.phase if request.phase != "measure" else f"{request.task} {request.arm}"
            self._bar.update(self._id, completed=done, total=total, description=what)
