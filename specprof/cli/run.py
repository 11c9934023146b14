"""`specprof run`: measure an engine on prompts."""

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from specprof.cli import common, target
from specprof.cli.log import log


def run(
    prompts: target.Prompts = None,
    model: target.Model = None,
    draft: target.Draft = None,
    method: target.Method = None,
    k: target.K = 4,
    schedule: target.Schedule = "constant",
    threshold: target.Threshold = None,
    max_matching_ngram_size: target.Ngram = None,
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
    temperature: target.Temperature = 0.0,
    top_p: target.TopP = None,
    top_k: target.TopK = None,
    seed: target.Seed = 0,
    warmup: Annotated[int, typer.Option(help="Warm-up requests per arm: recorded, not counted.", min=0)] = 1,
    engine: target.EngineName = "huggingface",
    engine_option: target.EngineOption = None,
    dtype: target.Dtype = None,
    device: target.Device = None,
    threads: target.Threads = None,
    save_text: Annotated[bool, typer.Option("--save-text", help="Store prompts and answers in the run.")] = False,
    skip_bad: common.SkipBad = False,
) -> None:
    """Run prompts through an engine and record every verification round.

    Example: specprof run --model ./llama --method prompt_lookup --baseline --prompts prompts/ --out runs/first
    """
    from specprof.capture.plan import plan
    from specprof.capture.session import Spec, execute
    from specprof.cli.progress import Progress
    from specprof.config import load_config
    from specprof.errors import UsageError
    from specprof.prompts import read_prompts

    if not prompts or not all(path.strip() for path in prompts):
        raise UsageError("no prompts", "pass `--prompts FILE` (or a folder, or `-` for stdin)")
    if resume and out is None:
        raise UsageError("`--resume` needs to know which run", "pass `--out RUN`")
    wish = {
        "method": method,
        "draft": draft,
        "k": k,
        "schedule": schedule,
        "threshold": threshold,
        "max_matching_ngram_size": max_matching_ngram_size,
        "temperature": temperature,
        "top_p": top_p,
        "top_k": top_k,
    }
    driver, config = target.choose(
        engine,
        engine_option=engine_option,
        baseline=baseline,
        wish=wish,
        model=model,
        dtype=dtype,
        device=device,
        threads=threads,
        max_tokens=max_new_tokens,
        seed=seed,
        save_text=save_text,
    )
    rules = load_config(Path.cwd(), os.environ).tasks
    chosen_prompts = read_prompts(prompts, task=task, rules=rules, skip_bad=skip_bad, limit=limit)
    for problem in chosen_prompts.skipped:
        log.warning("skipped %s", problem)
    log.info("read %d prompts: %s", len(chosen_prompts.prompts), chosen_prompts.summary())
    spec = Spec(
        engine_name=engine,
        config=config,
        jobs=plan(chosen_prompts.prompts, config.arms, samples=samples, seed=seed, max_tokens=max_new_tokens),
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


def _stamp() -> str:
    from datetime import datetime

    return datetime.now().strftime("%Y%m%d-%H%M%S")
