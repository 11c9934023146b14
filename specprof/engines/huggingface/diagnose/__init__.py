"""What a run with these models would meet on this machine; reads configurations and tokenizers, no weights."""

from collections.abc import Iterator, Sequence

from specprof.engines.huggingface import preflight
from specprof.engines.huggingface.diagnose import machine, memory, vocabulary
from specprof.engines.huggingface.diagnose.side import Side, findings_of, read_side
from specprof.engines.huggingface.usage import check_usage
from specprof.errors import EnvironmentError_
from specprof.records import EngineConfig, Finding

SHARES_TOKENS = ("draft_model", "universal")  # methods whose draft is a language model of its own


def diagnose(config: EngineConfig, texts: Sequence[str]) -> Iterator[Finding]:
    check_usage(config)
    try:
        preflight.check_extra()
        preflight.check_device(config.device)
    except EnvironmentError_ as error:
        yield Finding("versions", "blocker", str(error), "the engine cannot start", error.hint)
        return
    yield from machine.findings(config)
    assert config.model is not None
    remote = preflight.trusts(config)
    target = read_side("target", config.model, remote)
    names = sorted({arm.draft for arm in config.arms if arm.draft})
    drafts = [read_side("draft", name, remote) for name in names]
    for side in (target, *drafts):
        yield from findings_of(side) if isinstance(side, Side) else [side]
    if isinstance(target, Finding):
        return
    readable = [side for side in drafts if isinstance(side, Side)]
    yield machine.dtype(target, config)
    yield from vocabulary.target_findings(target, texts)
    for draft in readable:
        arms = [arm for arm in config.arms if arm.draft == draft.name and arm.method in SHARES_TOKENS]
        if arms:
            yield from vocabulary.draft_findings(target, draft, arms, texts)
    yield from memory.findings(target, readable, config)
