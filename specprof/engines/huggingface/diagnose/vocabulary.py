"""Tokenizers of target and draft: what they share, and which methods that leaves."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from specprof.engines.huggingface.diagnose.side import Side
from specprof.errors import UsageError
from specprof.records import Arm, Finding

SAMPLES = (
    "The lighthouse keeper's daughter counted 1,024 ships.",
    "def area(r: float) -> float:\n    return 3.14 * r ** 2  # circle",
    "한국어 문장도 그대로 돌아와야 합니다.",
    "Good luck! 🍀👩‍🚀",
)
MOST_TEXTS = 50  # of the prompts: enough to meet what a tokenizer cannot write
SPECIAL = ("bos_token", "eos_token", "pad_token", "unk_token")
THIN_SHARE = 0.5  # of the draft's tokens: with fewer that map, most proposals are lost on the way


def target_findings(target: Side, texts: Sequence[str]) -> Iterator[Finding]:
    if target.fault is not None:
        yield target.fault
        return
    has = bool(target.tokenizer.chat_template)
    meaning = "chat prompts are sent through it" if has else "chat prompts are refused; raw prompts run"
    yield Finding("chat-template", "ok", f"{target.title} has {'one' if has else 'none'}", meaning)
    yield _round_trip(target, texts, matters=False)


def draft_findings(target: Side, draft: Side, arms: Sequence[Arm], texts: Sequence[str]) -> Iterator[Finding]:
    """Of a draft that is a language model with a tokenizer of its own."""
    if draft.fault is not None:
        yield draft.fault
    if target.fault is not None or draft.fault is not None:
        return
    yield _overlap(target, draft, arms)
    yield _special_tokens(target, draft)
    yield _round_trip(draft, texts, matters=any(arm.method == "universal" for arm in arms))


def _overlap(target: Side, draft: Side, arms: Sequence[Arm]) -> Finding:
    figures = _figures(target, draft)
    value = (
        f"{draft.title}: {figures['same_id_share']:.1%} of the tokens have the same id, "
        f"{figures['mapped_share']:.1%} of the draft's tokens are tokens of the target"
    )
    sampled = any(arm.temperature > 0 for arm in arms)
    ours, theirs = target.vocabulary, draft.vocabulary
    refused = {
        "draft_model": _refusal(lambda: ours.check_same(theirs)),
        "universal": _refusal(lambda: ours.check_other(theirs, sampled=sampled)),
    }
    able = ", ".join(f"`{method}` {'cannot' if error else 'can'}" for method, error in refused.items())
    meaning = f"{able} draft with it; `prompt_lookup` needs no draft"
    for arm in arms:
        if error := refused[arm.method]:
            return Finding("tokenizers", "blocker", value, f"{error}; {meaning}", error.hint, figures)
    if figures["mapped_share"] < THIN_SHARE:
        hint = "look for a draft of the target's own family"
        return Finding("tokenizers", "warning", value, f"{meaning}; most proposals are lost", hint, figures)
    return Finding("tokenizers", "ok", value, meaning, figures=figures)


def _figures(target: Side, draft: Side) -> dict[str, float]:
    """Shares from 0 to 1. A token maps whose text, a leading space written alike, is a token of the target."""
    ours, theirs = target.tokens, draft.tokens
    mapped = {_spaced(token) for token in theirs} & {_spaced(token) for token in ours}
    return {
        "target_tokens": len(ours),
        "draft_tokens": len(theirs),
        "same_id_share": sum(theirs.get(token) == id for token, id in ours.items()) / max(len(ours), len(theirs), 1),
        "mapped_share": len(mapped) / max(len(theirs), 1),
    }


def _spaced(token: str) -> str:
    return token.replace("\u2581", "\u0120")  # SentencePiece's mark for a space, and that of byte-level BPE


def _refusal(check: Callable[[], None]) -> UsageError | None:
    try:
        check()
    except UsageError as error:
        return error
    return None


def _special_tokens(target: Side, draft: Side) -> Finding:
    parts = [
        f"{name.removesuffix('_token')} {_shown(ours)} against {_shown(theirs)}"
        for name in SPECIAL
        if (ours := _special(target, name)) != (theirs := _special(draft, name))
    ]
    if not parts:
        return Finding("special-tokens", "ok", f"{draft.title}: those of the target", "both end a text alike")
    meaning = "where the ends differ, the draft proposes past the target's end, or none of it"
    hint = "compare the two `tokenizer_config.json`"
    return Finding("special-tokens", "warning", f"{draft.title}: {', '.join(parts)}", meaning, hint)


def _special(side: Side, name: str) -> tuple[Any, Any]:
    return getattr(side.tokenizer, name, None), getattr(side.tokenizer, f"{name}_id", None)


def _shown(token: tuple[Any, Any]) -> str:
    text, id = token
    return "none" if text is None else f"`{text}` ({id})"


def _round_trip(side: Side, texts: Sequence[str], matters: bool) -> Finding:
    tried = [*SAMPLES, *texts[:MOST_TEXTS]]
    lost = [text for text in tried if _there_and_back(side.tokenizer, text) != text]
    value = f"{side.title}: {len(tried) - len(lost)} of {len(tried)} texts"
    figures = {"tried": len(tried), "kept": len(tried) - len(lost)}
    if not lost:
        return Finding("round-trip", "ok", value, "text survives the way into tokens and back", figures=figures)
    value += f"; changed is {_short(lost[0])}"
    if matters:
        meaning = "`universal` sends every draft through text: what changes there is proposed wrongly"
        return Finding("round-trip", "warning", value, meaning, "expect fewer accepted tokens on such text", figures)
    return Finding("round-trip", "ok", value, "only `universal` sends drafts through text", figures=figures)


def _there_and_back(tokenizer: Any, text: str) -> str:
    ids = tokenizer(text, add_special_tokens=False).input_ids
    return str(tokenizer.decode(ids, clean_up_tokenization_spaces=False))


def _short(text: str) -> str:
    line = text.partition("\n")[0]
    return f"`{line if len(line) <= 30 else line[:29] + '…'}`"
