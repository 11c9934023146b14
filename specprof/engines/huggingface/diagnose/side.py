"""One model of a run, as far as it can be known without its weights."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from specprof.engines.huggingface import preflight
from specprof.engines.huggingface.vocabulary import Vocabulary
from specprof.errors import EnvironmentError_
from specprof.records import Finding


@dataclass(frozen=True)
class Side:
    """`role` is target or draft. `folder` holds the files; None where they are not on this machine yet. `tokenizer` is
    None where there is none (heads that draft on the target's hidden states bring no own); `fault` then says so."""

    role: str
    name: str
    config: Any
    folder: Path | None
    tokenizer: Any = None
    fault: Finding | None = None

    @property
    def title(self) -> str:
        return f"{self.role} `{self.name}`"

    @property
    def rows(self) -> int:
        """Rows of the embedding."""
        return int(self.config.get_text_config(decoder=True).vocab_size)

    @cached_property
    def tokens(self) -> dict[str, int]:
        return dict(self.tokenizer.get_vocab())

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.name, self.rows, self.tokenizer)


def read_side(role: str, name: str, remote: bool) -> Side | Finding:
    """The model, or a blocker that says why it cannot be read."""
    try:
        side = Side(role, name, preflight.read_config(name, remote), _folder(name))
    except EnvironmentError_ as error:
        return Finding("model", "blocker", str(error), "the run cannot load it", error.hint)
    try:
        return Side(role, name, side.config, side.folder, preflight.read_tokenizer(name, remote))
    except EnvironmentError_ as error:
        fault = Finding("tokenizers", "blocker", str(error), "no text becomes tokens without it", error.hint)
        return Side(role, name, side.config, side.folder, fault=fault)


def _folder(name: str) -> Path | None:
    if Path(name).is_dir():
        return Path(name)
    from huggingface_hub import try_to_load_from_cache

    cached = try_to_load_from_cache(name, "config.json")
    return Path(cached).parent if isinstance(cached, str) else None


def findings_of(side: Side) -> Iterator[Finding]:
    kind = "encoder-decoder" if side.config.is_encoder_decoder else "decoder-only"
    described = f"{side.title}: {side.config.model_type}, {kind}"
    if side.folder is None or not preflight.weight_files(side.folder):
        meaning = "its weights are not on this machine: the run downloads them, or fails without a network"
        yield Finding("model", "warning", described, meaning, "download it first")
    else:
        yield Finding("model", "ok", described, "its files are here")
    if side.tokenizer is not None:
        yield _embeddings(side)


def _embeddings(side: Side) -> Finding:
    tokens = max(side.tokens.values(), default=-1) + 1
    value = f"{side.title}: {side.rows:,} rows for {tokens:,} token ids"
    figures = {"rows": side.rows, "tokens": tokens}
    if tokens > side.rows:
        meaning = "text that holds an id beyond the last row ends the run"
        return Finding("embeddings", "warning", value, meaning, "use the tokenizer of this checkpoint", figures)
    if tokens < side.rows:
        meaning = "padded: the rows beyond stand for no token; methods that compare sizes count them"
        return Finding("embeddings", "ok", value, meaning, figures=figures)
    return Finding("embeddings", "ok", value, "one row per token", figures=figures)
