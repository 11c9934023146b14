"""Which engine, models and arms: options and their reading, shared by every command that drives an engine."""

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specprof.cli.log import log

if TYPE_CHECKING:
    from specprof.engines.base import Engine
    from specprof.prompts import PromptSet
    from specprof.records import EngineConfig

Prompts = Annotated[
    list[str] | None, typer.Option(metavar="PATH", help="Prompt file, folder or `-` for stdin (repeatable).")
]
Limit = Annotated[int | None, typer.Option(help="At most so many prompts per task; a conversation is one.", min=1)]
Task = Annotated[str | None, typer.Option(help="Task of records that name none.")]
Field = Annotated[
    str | None, typer.Option(help="Field with the text, where no layout is known (a dotted path may lead to it).")
]
TaskField = Annotated[str | None, typer.Option(help="Field with the task, likewise.")]
Model = Annotated[str | None, typer.Option(help="Target model: a folder or a hub name.")]
Draft = Annotated[str | None, typer.Option(help="Draft model: a folder or a hub name.")]
Method = Annotated[
    str | None, typer.Option(help="How to draft, one of the engine's methods; by default what --draft suggests.")
]
K = Annotated[
    list[str] | None,
    typer.Option(
        metavar="K[,K…]", help="Most tokens drafted per round, 4 unless given; several, as 2,4,6, give an arm each."
    ),
]
Arms = Annotated[
    list[str] | None,
    typer.Option(
        "--arm",
        metavar="NAME=KEY=VALUE[,…]",
        help="One way of drafting (repeatable): method, draft, k, schedule, threshold or an option of the method. "
        "What it leaves out comes from the flags.",
    ),
]
Schedule = Annotated[
    str | None,
    typer.Option(help="constant: always k, unless given; confidence: stop after a token below --threshold."),
]
Threshold = Annotated[float | None, typer.Option(help="Draft probability for --schedule confidence; 0.4 unless given.")]
Ngram = Annotated[int | None, typer.Option(help="Longest n-gram that prompt_lookup matches; 2 unless given.", min=1)]
Temperature = Annotated[float, typer.Option(help="0 is greedy.", min=0, max=100)]
TopP = Annotated[float | None, typer.Option(help="Nucleus sampling.", min=0, max=1)]
TopK = Annotated[int | None, typer.Option(help="Sample from the k likeliest tokens.", min=1)]
Seed = Annotated[int, typer.Option(help="Fixes the order of jobs and every sample.")]
EngineName = Annotated[str, typer.Option("--engine", help="Registered engine.")]
EngineOption = Annotated[
    list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option of the engine (repeatable).")
]
Dtype = Annotated[str | None, typer.Option(help="float32, bfloat16 or float16.")]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, …")]
Threads = Annotated[int | None, typer.Option(help="CPU threads of the engine.", min=1)]


def choose(
    engine: str, *, engine_option: list[str] | None, baseline: bool, wish: dict[str, Any], **config: Any
) -> "tuple[Engine, EngineConfig]":
    """The engine by its name, and the configuration to check and enter it with. `wish` holds the fields of
    `capture.arms.Wish` (`arm` and `k` the texts of every `--arm` and `--k`), `config` those of `EngineConfig`.
    Raises `UsageError`."""
    from specprof.capture.arms import Wish, arms_for
    from specprof.engines import create
    from specprof.records import EngineConfig

    driver = create(engine)
    k = ",".join(wish.get("k") or ()) or None
    arms = arms_for(Wish(**wish | {"k": k}), driver.capabilities, baseline=baseline)
    return driver, EngineConfig(arms=arms, options=_pairs(engine_option or []), **config)


def read(paths: list[str] | None, *, skip_bad: bool, **how: Any) -> "PromptSet":
    """The prompts of `--prompts`, their tasks by the rules of the settings; what was found and skipped goes to the log.
    `how` holds the other arguments of `read_prompts`. Raises `UsageError`."""
    from specprof.config import load_config
    from specprof.errors import UsageError
    from specprof.prompts import read_prompts

    if not paths or not all(path.strip() for path in paths):
        raise UsageError("no prompts", "pass `--prompts FILE` (or a folder, or `-` for stdin)")
    found = read_prompts(paths, rules=load_config(Path.cwd(), os.environ).tasks, skip_bad=skip_bad, **how)
    for problem in found.skipped:
        log.warning("skipped %s", problem)
    if found.not_obeyed or found.answered:
        log.warning(found.sentence())
    elif log.isEnabledFor(logging.WARNING):  # not with `-q`
        typer.echo(found.sentence(), err=True)
    return found


def _pairs(items: list[str]) -> dict[str, str]:
    from specprof.errors import UsageError

    pairs = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals:
            raise UsageError(f"`--engine-option {item}` is not NAME=VALUE")
        pairs[name] = value
    return pairs
