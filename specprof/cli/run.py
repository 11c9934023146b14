"""`specprof run`: measure an engine on prompts."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specprof.cli import common, execution, target

if TYPE_CHECKING:
    from specprof.capture.session import Spec
    from specprof.engines.base import Engine
    from specprof.prompts import PromptSet


class Detail(StrEnum):
    """What is recorded beyond the counts and times of a round."""

    TOKENS = "tokens"


def run(
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
    baseline: Annotated[
        bool, typer.Option("--baseline/--no-baseline", help="Also run plain decoding, interleaved.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Run directory to create; by default runs/<time>.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Do what is missing in the run directory --out.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print requests, arms, minutes and expected half-widths; run nothing.")
    ] = False,
    like: Annotated[
        Path | None, typer.Option(metavar="RUN", help="Earlier run whose times and spread --dry-run goes by.")
    ] = None,
    max_new_tokens: Annotated[
        int, typer.Option(help="Most tokens per answer, where a prompt sets none.", max=target.MOST_TOKENS)
    ] = 128,
    fixed_length: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Every answer has N tokens, for timing: nothing ends it.", min=1, max=target.MOST_TOKENS
        ),
    ] = None,
    limit: target.Limit = None,
    until_n: Annotated[
        int | None,
        typer.Option(metavar="N", help="Stop when each task × prompt bucket has N clusters in every arm.", min=1),
    ] = None,
    task: target.Task = None,
    field: target.Field = None,
    task_field: target.TaskField = None,
    repeat: Annotated[
        int, typer.Option(metavar="N", help="Answers per prompt, each with its own seed; needs a temperature.")
    ] = 1,
    temperature: target.Temperature = 0.0,
    top_p: target.TopP = None,
    top_k: target.TopK = None,
    seed: target.Seed = 0,
    warmup: Annotated[int, typer.Option(help="Warm-up requests per arm: recorded, not counted.", min=0)] = 1,
    calibrate: Annotated[
        bool, typer.Option("--calibrate/--no-calibrate", help="Measure the parts of a round before and after.")
    ] = True,
    costs: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Take costs from `specprof calibrate --out FILE` instead.")
    ] = None,
    engine: target.EngineName = "huggingface",
    engine_option: target.EngineOption = None,
    dtype: target.Dtype = None,
    device: target.Device = None,
    threads: target.Threads = None,
    detail: Annotated[
        Detail | None, typer.Option(help="tokens: also record ids and probabilities of drafted tokens.")
    ] = None,
    save_text: Annotated[bool, typer.Option("--save-text", help="Store prompts and answers in the run.")] = False,
    skip_bad: common.SkipBad = False,
) -> None:
    """Run prompts through an engine and record every verification round.

    Example: specprof run --model ./llama --method prompt_lookup --baseline --prompts prompts/ --out runs/first
    """
    from specprof.capture.plan import plan
    from specprof.capture.session import Spec

    _check(resume, out, dry_run, like)
    driver, config = target.choose(
        context,
        baseline=baseline,
        max_tokens=fixed_length or max_new_tokens,
        fixed_length=fixed_length is not None,
        token_detail=detail is Detail.TOKENS,
        save_text=save_text,
    )
    chosen = target.read(context)
    spec = Spec(
        engine_name=engine,
        config=config,
        jobs=plan(
            chosen.prompts,
            config.arms,
            repeats=repeat,
            seed=seed,
            max_tokens=config.max_tokens,
            fixed_length=config.fixed_length,
        ),
        prompts=chosen.summary(),
        repeats=repeat,
        warmup=warmup,
        until=until_n,
        calibrate=calibrate,
        costs=costs,
        command=sys.argv[1:],
    )
    folder = out or Path("runs") / _stamp()
    execution.consult(driver, config, folder)
    if dry_run:
        _show(driver, spec, chosen, like)
    else:
        execution.measure(driver, spec, folder, resume, skip_bad)


def _check(resume: bool, out: Path | None, dry_run: bool, like: Path | None) -> None:
    from specprof.errors import UsageError

    if resume and out is None:
        raise UsageError("`--resume` needs to know which run", "pass `--out RUN`")
    if resume and dry_run:
        raise UsageError("`--dry-run` plans a new run", "leave `--resume` out")
    if like is not None and not dry_run:
        raise UsageError(f"`--like {like}` changes nothing in a run", "add `--dry-run`, or leave it out")


def _show(driver: "Engine", spec: "Spec", chosen: "PromptSet", like: Path | None) -> None:
    """Everything that can be wrong with a run is found before it is planned."""
    from specprof.cli.dry_run import Plan, bucket_of, show
    from specprof.engines.base import check_prompts

    spec.cost_file()
    driver.check(spec.config)
    check_prompts(driver, chosen.prompts)
    show(Plan(spec.config, chosen.prompts, bucket_of(driver), spec.repeats, spec.warmup, spec.until), like)


def _stamp() -> str:
    from datetime import datetime

    return datetime.now().strftime("%Y%m%d-%H%M%S")
