"""Which engine, models and arms: options and their reading, shared by every command that drives an engine."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from specprof.engines.base import Engine
    from specprof.records import EngineConfig

Prompts = Annotated[
    list[str] | None, typer.Option(metavar="PATH", help="Prompt file, folder or `-` for stdin (repeatable).")
]
Model = Annotated[str | None, typer.Option(help="Target model: a folder or a hub name.")]
Draft = Annotated[str | None, typer.Option(help="Draft model: a folder or a hub name.")]
Method = Annotated[
    str | None, typer.Option(help="draft_model or prompt_lookup; by default what the engine and --draft suggest.")
]
K = Annotated[int, typer.Option(help="Most tokens drafted per round.")]
Schedule = Annotated[str, typer.Option(help="constant: always k; confidence: stop after a token below --threshold.")]
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
    `capture.arms.Wish`, `config` those of `EngineConfig`. Raises `UsageError`."""
    from specprof.capture.arms import Wish, arms_for
    from specprof.engines import create
    from specprof.records import EngineConfig

    driver = create(engine)
    arms = arms_for(Wish(**wish), driver.capabilities, baseline=baseline)
    return driver, EngineConfig(arms=arms, options=_pairs(engine_option or []), **config)


def _pairs(items: list[str]) -> dict[str, str]:
    from specprof.errors import UsageError

    pairs = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals:
            raise UsageError(f"`--engine-option {item}` is not NAME=VALUE")
        pairs[name] = value
    return pairs
