"""Which engine, models and arms: options and their reading, shared by every command that drives an engine."""

import logging
import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specprof.cli.log import log

if TYPE_CHECKING:
    from specprof.engines.base import Engine
    from specprof.prompts import PromptSet
    from specprof.records import EngineConfig

MOST_TOKENS = 2**31 - 1

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


def choose(context: typer.Context, *, baseline: bool, **config: Any) -> "tuple[Engine, EngineConfig]":
    """The engine that the command's options name, and the configuration to check and enter it with. `config` holds
    the fields of `EngineConfig` that are not an option of the same name. Raises `UsageError`."""
    from specprof.capture.arms import Wish, arms_for
    from specprof.engines import create
    from specprof.records import EngineConfig

    options = _options(context)
    driver = create(options["engine"])
    options["k"] = ",".join(options["k"] or ()) or None
    wish = Wish(**{field.name: options[field.name] for field in fields(Wish)})
    same = {name: options[name] for name in ("model", "dtype", "device", "threads", "seed") if name in options}
    arms = arms_for(wish, driver.capabilities, baseline=baseline)
    return driver, EngineConfig(arms=arms, options=_pairs(options["engine_option"] or []), **same, **config)


def read(context: typer.Context) -> "PromptSet":
    """The prompts that the command's options name, their tasks by the rules of the settings; what was found and skipped
    goes to the log. Raises `UsageError`."""
    from specprof.config import load_config
    from specprof.errors import UsageError
    from specprof.prompts import read_prompts

    options = _options(context)
    paths = options["prompts"]
    if not paths or not all(path.strip() for path in paths):
        raise UsageError("no prompts", "pass `--prompts FILE` (or a folder, or `-` for stdin)")
    how = {name: options[name] for name in ("task", "field", "task_field", "limit", "skip_bad")}
    found = read_prompts(paths, rules=load_config(Path.cwd(), os.environ).tasks, **how)
    for problem in found.skipped:
        log.warning("skipped %s", problem)
    if found.not_obeyed or found.answered:
        log.warning(found.sentence())
    elif log.isEnabledFor(logging.WARNING):  # not with `-q`
        typer.echo(found.sentence(), err=True)
    return found


def _options(context: typer.Context) -> dict[str, Any]:
    """The options as the command gets them: a repeatable one that is not there is None."""
    return {name: list(v) or None if isinstance(v, tuple) else v for name, v in context.params.items()}


def _pairs(items: list[str]) -> dict[str, str]:
    from specprof.errors import UsageError

    pairs = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals:
            raise UsageError(f"`--engine-option {item}` is not NAME=VALUE")
        pairs[name] = value
    return pairs
