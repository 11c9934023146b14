"""`specprof verify`: does speculative decoding say what the target alone would have said?"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specprof.cli import common, target
from specprof.cli.log import log
from specprof.errors import Exit

if TYPE_CHECKING:
    from specprof.lossless.result import Result

EXITS = {"lossless": Exit.OK, "lossy": Exit.FAILED, "inconclusive": Exit.INCONCLUSIVE}
GREEDY_TOKENS = 64
SAMPLES = 100
WITH_FROM = ("from_run", "resolution", "as_json", "skip_bad")


def verify(
    context: typer.Context,
    prompts: target.Prompts = None,
    model: target.Model = None,
    draft: target.Draft = None,
    method: target.Method = None,
    arm: target.Arms = None,
    k: target.K = None,
    schedule: target.Schedule = None,
    threshold: target.Threshold = None,
    max_matching_ngram_size: target.Ngram = None,
    from_run: Annotated[
        Path | None, typer.Option("--from", metavar="RUN", help="Compare the greedy answers of this run instead.")
    ] = None,
    repeat: Annotated[
        int | None, typer.Option(help="Answers per prompt and arm at a temperature; 100 unless given.", min=1)
    ] = None,
    resolution: Annotated[
        float, typer.Option(help="Largest fault that may go unseen, as a share of answers or of probability.")
    ] = 0.1,
    max_new_tokens: Annotated[
        int | None,
        typer.Option(
            help="Tokens per answer; 64 greedy and k + 4 sampled unless given.", min=1, max=target.MOST_TOKENS
        ),
    ] = None,
    limit: target.Limit = None,
    task: target.Task = None,
    field: target.Field = None,
    task_field: target.TaskField = None,
    temperature: target.Temperature = 0.0,
    top_p: target.TopP = None,
    top_k: target.TopK = None,
    seed: target.Seed = 0,
    engine: target.EngineName = "huggingface",
    engine_option: target.EngineOption = None,
    dtype: target.Dtype = None,
    device: target.Device = None,
    threads: target.Threads = None,
    as_json: common.AsJson = False,
    skip_bad: common.SkipBad = False,
) -> int:
    """Hold speculative arms against plain decoding: exit code 0 if lossless, 1 if lossy, 3 if that is undecided.

    Example: specprof verify --model ./llama --draft ./small --prompts prompts/ --temperature 1 --repeat 200
    """
    from specprof.cli.execution import consult
    from specprof.cli.progress import Progress
    from specprof.errors import UsageError
    from specprof.lossless import verify as lossless
    from specprof.lossless.recorded import compare_recorded

    if not 0 < resolution < 1:
        raise UsageError(f"`--resolution {resolution:g}` is no share", "pass a number between 0 and 1")
    if from_run is not None:
        _refuse_idle(context)
        result = compare_recorded(from_run, resolution=resolution, skip_bad=skip_bad)
        if (state := result.described["state"]) != "complete":
            log.warning("`%s` is %s: what is there is compared", from_run, state)
        return _print(result, as_json)
    driver, config = target.choose(
        context,
        baseline=True,
        max_tokens=max_new_tokens or GREEDY_TOKENS,
        save_text=True,
    )
    if max_new_tokens is None and temperature:
        config = replace(config, max_tokens=max(arm.k for arm in config.arms) + 4)
    found = target.read(context)
    consult(driver, config)
    count = repeat or (SAMPLES if temperature else 1)
    with Progress() as progress:
        result = lossless.verify(
            driver, config, found.prompts, samples=count, resolution=resolution, on_request=progress
        )
    return _print(result, as_json)


def _refuse_idle(context: typer.Context) -> None:
    """`--from` takes models, prompts and settings from the run."""
    from specprof.errors import UsageError

    given = [option for option in context.command.params if _is_typed(context, option.name or "")]
    if idle := [option.opts[0] for option in given if option.name not in WITH_FROM]:
        flags = "`, `".join(idle)
        raise UsageError(f"`{flags}`: a recorded run is compared as it is", "leave that out, or `--from`")


def _is_typed(context: typer.Context, name: str) -> bool:
    """On the command line; settings are defaults."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _print(result: "Result", as_json: bool) -> int:
    import json

    from specprof.lossless.document import to_dict
    from specprof.lossless.text import render

    document = json.dumps(to_dict(result), ensure_ascii=False, indent=2, allow_nan=False) if as_json else None
    typer.echo(document or "\n".join(render(result)))
    return EXITS[result.outcome]
