"""`specprof run`: measure an engine on prompts."""

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from specprof.cli import common
from specprof.cli.log import log


def run(
    prompts: Annotated[
        list[str] | None, typer.Option(metavar="PATH", help="Prompt file, folder or `-` for stdin (repeatable).")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Target model: a folder or a hub name.")] = None,
    draft: Annotated[str | None, typer.Option(help="Draft model: a folder or a hub name.")] = None,
    method: Annotated[
        str | None, typer.Option(help="draft_model or prompt_lookup; by default what the engine and --draft suggest.")
    ] = None,
    k: Annotated[int, typer.Option(help="Most tokens drafted per round.")] = 4,
    schedule: Annotated[
        str, typer.Option(help="constant: always k; confidence: stop after a token below --threshold.")
    ] = "constant",
    threshold: Annotated[
        float | None, typer.Option(help="Draft probability for --schedule confidence; 0.4 unless given.")
    ] = None,
    max_matching_ngram_size: Annotated[
        int | None, typer.Option(help="Longest n-gram that prompt_lookup matches; 2 unless given.", min=1)
    ] = None,
    baseline: Annotated[
        bool, typer.Option("--baseline/--no-baseline", help="Also run plain decoding, interleaved.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Run directory to create; by default runs/<time>.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Do what is missing in the run directory --out.")] = False,
    max_new_tokens: Annotated[
        int, typer.Option(help="Most tokens per answer, where a prompt sets none.", max=2**31 - 1)
    ] = 128,
    limit: Annotated[int | None, typer.Option(help="At most so many prompts per task.", min=1)] = None,
    task: Annotated[str | None, typer.Option(help="Task of records that name none.")] = None,
    samples: Annotated[int, typer.Option(help="Answers per prompt; needs a temperature.")] = 1,
    temperature: Annotated[float, typer.Option(help="0 is greedy.", min=0, max=100)] = 0.0,
    top_p: Annotated[float | None, typer.Option(help="Nucleus sampling.", min=0, max=1)] = None,
    top_k: Annotated[int | None, typer.Option(help="Sample from the k likeliest tokens.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Fixes the order of jobs and every sample.")] = 0,
    warmup: Annotated[int, typer.Option(help="Warm-up requests per arm: recorded, not counted.", min=0)] = 1,
    engine: Annotated[str, typer.Option(help="Registered engine.")] = "huggingface",
    engine_option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option of the engine (repeatable).")
    ] = None,
    dtype: Annotated[str | None, typer.Option(help="float32, bfloat16 or float16.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, …")] = None,
    threads: Annotated[int | None, typer.Option(help="CPU threads of the engine.", min=1)] = None,
    save_text: Annotated[bool, typer.Option("--save-text", help="Store prompts and answers in the run.")] = False,
    skip_bad: common.SkipBad = False,
) -> None:
    """Run prompts through an engine and record every verification round.

    Example: specprof run --model ./llama --method prompt_lookup --baseline --prompts prompts/ --out runs/first
    """
    from specprof.capture.arms import Wish, arms_for
    from specprof.capture.plan import plan
    from specprof.capture.session import Spec, execute
    from specprof.cli.progress import Progress
    from specprof.config import load_config
    from specprof.engines import create
    from specprof.errors import UsageError
    from specprof.prompts import read_prompts
    from specprof.records import EngineConfig

    if not prompts or not all(path.strip() for path in prompts):
        raise UsageError("no prompts", "pass `--prompts FILE` (or a folder, or `-` for stdin)")
    if resume and out is None:
        raise UsageError("`--resume` needs to know which run", "pass `--out RUN`")
    driver = create(engine)
    wish = Wish(
        method=method,
        draft=draft,
        k=k,
        schedule=schedule,
        threshold=threshold,
        max_matching_ngram_size=max_matching_ngram_size,
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
    )
    arms = arms_for(wish, driver.capabilities, baseline=baseline)
    rules = load_config(Path.cwd(), os.environ).tasks
    chosen_prompts = read_prompts(prompts, task=task, rules=rules, skip_bad=skip_bad, limit=limit)
    for problem in chosen_prompts.skipped:
        log.warning("skipped %s", problem)
    log.info("read %d prompts: %s", len(chosen_prompts.prompts), chosen_prompts.summary())
    spec = Spec(
        engine_name=engine,
        config=EngineConfig(
            arms=arms,
            model=model,
            dtype=dtype,
            device=device,
            threads=threads,
            max_tokens=max_new_tokens,
            seed=seed,
            save_text=save_text,
            options=_pairs(engine_option or []),
        ),
        jobs=plan(chosen_prompts.prompts, arms, samples=samples, seed=seed, max_tokens=max_new_tokens),
        prompts=chosen_prompts.summary(),
        samples=samples,
        warmup=warmup,
        command=sys.argv[1:],
    )
    folder = out or Path("runs") / _stamp()
    try:
        with Progress() as progress:
            execute(driver, spec, folder, go_on=resume, skip_bad=skip_bad, on_request=progress)
    except KeyboardInterrupt:
        if (folder / "run.json").exists():
            typer.echo(f"what was measured is kept in {folder}", err=True)
            typer.echo(
                f"hint: repeat the command with `--out {shlex.quote(str(folder))} --resume` to do the rest", err=True
            )
        raise
    typer.echo(f"specprof report {shlex.quote(str(folder))}")


def _pairs(items: list[str]) -> dict[str, str]:
    from specprof.errors import UsageError

    pairs = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals:
            raise UsageError(f"`--engine-option {item}` is not NAME=VALUE")
        pairs[name] = value
    return pairs


def _stamp() -> str:
    from datetime import datetime

    return datetime.now().strftime("%Y%m%d-%H%M%S")
