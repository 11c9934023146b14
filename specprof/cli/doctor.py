"""`specprof doctor`: what a run would meet."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specprof.cli import common, target
from specprof.errors import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specprof.records import Finding, Prompt

WIDTH = 100
INDENT = 24


def doctor(
    context: typer.Context,
    model: target.Model = None,
    draft: target.Draft = None,
    method: target.Method = None,
    arm: target.Arms = None,
    k: target.K = None,
    schedule: target.Schedule = None,
    threshold: target.Threshold = None,
    max_matching_ngram_size: target.Ngram = None,
    temperature: target.Temperature = 0.0,
    top_p: target.TopP = None,
    top_k: target.TopK = None,
    baseline: Annotated[bool, typer.Option("--baseline/--no-baseline", help="The run has plain decoding too.")] = False,
    prompts: target.Prompts = None,
    limit: target.Limit = None,
    task: target.Task = None,
    field: target.Field = None,
    task_field: target.TaskField = None,
    out: Annotated[Path | None, typer.Option(help="Where the run directory would lie.")] = None,
    engine: target.EngineName = "huggingface",
    engine_option: target.EngineOption = None,
    dtype: target.Dtype = None,
    device: target.Device = None,
    threads: target.Threads = None,
    as_json: common.AsJson = False,
    skip_bad: common.SkipBad = False,
) -> int:
    """Look at models, tokenizers, memory and machine before a run: exit code 4 if something blocks it.

    Example: specprof doctor --model ./llama --draft ./small --prompts prompts/
    """
    import json

    from specprof.doctor import consult

    driver, config = target.choose(
        context,
        baseline=baseline,
    )
    found: Sequence[Prompt] = ()
    if prompts:
        found = target.read(context).prompts
    findings = consult(driver, config, out=out or Path("runs"), prompts=found)
    if as_json:
        typer.echo(json.dumps(_document(findings), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        typer.echo("\n".join(_lines(findings)))
    return Exit.ENVIRONMENT if _count(findings, "blocker") else Exit.OK


def _document(findings: "Sequence[Finding]") -> dict[str, object]:
    counts = {f"{level}s": _count(findings, level) for level in ("warning", "blocker")}
    return {"schema": "specprof.doctor/1", **counts, "findings": [finding.to_dict() for finding in findings]}


def _lines(findings: "Sequence[Finding]") -> "Iterator[str]":
    for finding in findings:
        head = f"{finding.level:<8} {finding.what:<14} "
        yield from _wrapped(finding.value, head)
        yield from _wrapped(finding.meaning)
        if finding.hint and finding.level != "ok":
            yield from _wrapped(f"hint: {finding.hint}")
    yield f"doctor: {_number(findings, 'blocker')}, {_number(findings, 'warning')}"


def _wrapped(text: str, head: str = "") -> "Sequence[str]":
    import textwrap

    indent = " " * INDENT
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=head or indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _number(findings: "Sequence[Finding]", level: str) -> str:
    count = _count(findings, level)
    return f"{count} {level}" if count == 1 else f"{count or 'no'} {level}s"


def _count(findings: "Sequence[Finding]", level: str) -> int:
    return sum(finding.level == level for finding in findings)
