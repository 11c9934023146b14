"""What a run would meet before it starts: the engine's findings, and those of every engine."""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from specprof.capture.plan import plan
from specprof.engines.base import Diagnoses, Engine, check_prompts
from specprof.errors import SpecprofError
from specprof.records import EngineConfig, Finding, Prompt

LEAST_BYTES = 1 << 20  # below it not even the first segment of a run can be written
SCARCE_BYTES = 1 << 30


def examine(
    engine: Engine, config: EngineConfig, *, out: Path | None = None, texts: Sequence[str] = ()
) -> tuple[Finding, ...]:
    """Findings about a run of `config`, into a run directory at or below `out`. `texts` are tried on the tokenizers.
    Loads no weights. Raises `UsageError` where the configuration itself cannot be."""
    found = list(engine.diagnose(config, texts)) if isinstance(engine, Diagnoses) else []
    return (*found, *_disk(out))


def consult(
    engine: Engine, config: EngineConfig, *, out: Path | None = None, prompts: Sequence[Prompt] = ()
) -> tuple[Finding, ...]:
    """`examine`, and what a run refuses: the plan, and the engine itself, be it a prompt. Not where a blocker says so
    already."""
    found = examine(engine, config, out=out, texts=[_text(prompt) for prompt in prompts])
    if blockers(found):
        return found
    try:
        plan(prompts, config.arms, max_tokens=config.max_tokens)
        engine.check(config)
        check_prompts(engine, prompts)
    except SpecprofError as error:
        return (*found, Finding("configuration", "blocker", str(error), "the run is refused", error.hint))
    return found


def _text(prompt: Prompt) -> str:
    return prompt.text or "\n".join(str(message["content"]) for message in prompt.messages or ())


def blockers(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(finding for finding in findings if finding.level == "blocker")


def _disk(out: Path | None) -> Iterator[Finding]:
    if out is None:
        return
    folder = next(path for path in (out.absolute(), *out.absolute().parents) if path.is_dir())
    free = shutil.disk_usage(folder).free
    value, figures = f"{free / 1e9:.1f} GB free in `{folder}`", {"free": free}
    if not os.access(folder, os.W_OK):
        hint = "choose another folder for the run"
        yield Finding("disk", "blocker", f"`{folder}` cannot be written", "the run has no place", hint)
    elif free < LEAST_BYTES:
        yield Finding("disk", "blocker", value, "the run has no place", "free some space", figures)
    elif free < SCARCE_BYTES:
        meaning = "a long run may end early; what it measured until then is kept"
        yield Finding("disk", "warning", value, meaning, "free some space", figures)
    else:
        yield Finding("disk", "ok", value, "enough: a million rounds with their times take about 4 MB", figures=figures)
