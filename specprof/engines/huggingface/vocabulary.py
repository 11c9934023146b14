"""Whether the vocabularies of a target and its draft are such as a method needs."""

from dataclasses import dataclass
from typing import Any

from specprof.errors import UsageError


@dataclass(frozen=True)
class Vocabulary:
    """The tokenizer of a model, and `size`, the ids that the model itself knows (often more)."""

    model: str
    size: int
    tokenizer: Any

    def check_same(self, draft: "Vocabulary") -> None:
        """Raise `UsageError` unless each id means the same to both."""
        ours, theirs = self.tokenizer.get_vocab(), draft.tokenizer.get_vocab()
        if ours != theirs or self.size != draft.size:
            same = sum(theirs.get(token) == id for token, id in ours.items())
            raise UsageError(
                f"the tokenizers of `{self.model}` ({self.size} ids) and `{draft.model}` ({draft.size} ids) differ: "
                f"{same / max(len(ours), len(theirs)):.1%} of the tokens have the same id",
                "pass a draft with the target's own tokenizer and vocabulary size"
                + (", or use the method `universal`" if self.size != draft.size else ""),
            )

    def check_other(self, draft: "Vocabulary", *, sampled: bool) -> None:
        """Raise `UsageError` where transformers 5.24 refuses or fails to translate between the two."""
        if self.size == draft.size:
            same = self.tokenizer.get_vocab() == draft.tokenizer.get_vocab()
            what = "have the same tokenizer" if same else f"both have {self.size} ids: transformers takes them for one"
            raise UsageError(
                f"`{self.model}` and `{draft.model}` {what}",
                "use the method `draft_model`" if same else "pass a draft with another vocabulary size",
            )
        if sampled and not self._unknown(draft):
            raise UsageError(
                f"`{self.model}` knows every token of `{draft.model}`: sampling with such a pair, transformers fails",
                "decode greedily: `--temperature 0`",
            )

    def _unknown(self, draft: "Vocabulary") -> set[str]:
        """Tokens of the draft that the target lacks, when both mark a leading space alike."""
        mine, theirs = self._space(), draft._space()
        tokens = draft.tokenizer.get_vocab()
        if mine and theirs:
            tokens = {mine + token[1:] if token.startswith(theirs) else token for token in tokens}
        return set(tokens) - set(self.tokenizer.get_vocab())

    def _space(self) -> str:
        ids = self.tokenizer(" ", add_special_tokens=False).input_ids
        return str(self.tokenizer.convert_ids_to_tokens(ids)[0][0]) if ids else ""
