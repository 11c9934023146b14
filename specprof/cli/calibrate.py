"""`specprof calibrate`: what the parts of a round cost on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from specprof.cli import common, target


def calibrate(
    context: typer.Context,
    prompts: target.Prompts = None,
    model: target.Model = None,
    draft: target.Draft = None,
    method: target.Method = None,
    k: target.K = None,
    schedule: target.Schedule = None,
    threshold: target.Threshold = None,
    max_matching_ngram_size: target.Ngram = None,
    arm: target.Arms = None,
    contexts: Annotated[
        str | None,
        typer.Option(metavar="N[,N…]", help="Numbers of cached tokens; by default those that the prompts suggest."),
    ] = None,
    repeats: Annotated[int, typer.Option(help="Interleaved repeats; an interval needs 6.", min=1)] = 9,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the raw repeats for `--costs FILE`.")] = None,
    max_new_tokens: Annotated[
        int, typer.Option(help="Most tokens per answer: half of it counts as context.", min=1, max=target.MOST_TOKENS)
    ] = 128,
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
) -> None:
    """Measure what drafting, verifying and the rest of a round cost, in plain decode steps of the target.

    Example: specprof calibrate --model ./llama --draft ./small --prompts prompts/ --out costs.json
    """
    import json

    from specprof.calibrate import calibrate as measure
    from specprof.calibrate import save_costs
    from specprof.calibrate.file import refuse_unwritable
    from specprof.cli.costs_table import render

    chosen_contexts = _contexts(contexts)
    if out is not None:
        refuse_unwritable(out)
    driver, config = target.choose(
        context,
        baseline=False,
        max_tokens=max_new_tokens,
    )
    chosen = target.read(context)
    content = measure(driver, config, chosen.prompts, chosen_contexts, repeats)
    try:
        if out is not None:
            save_costs(out, content)
    finally:  # a disk that is full by now takes no minutes of measuring away
        typer.echo(json.dumps(content, indent=1, ensure_ascii=False) if as_json else render(content))


def _contexts(text: str | None) -> tuple[int, ...]:
    from specprof.errors import UsageError

    if text is None:
        return ()
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) < 10 and int(part) > 0 for part in parts):
        raise UsageError(f"`--contexts {text}` are no numbers of tokens", "pass for example `--contexts 64,512`")
    return tuple(dict.fromkeys(map(int, parts)))
