import re
from types import SimpleNamespace

import pytest

from specprof.engines.huggingface.vocabulary import Vocabulary
from specprof.errors import UsageError


def words(*tokens, size=None, space="_"):
    """Ids in the order of the tokens; a space alone becomes `space`."""
    ids = {token: id for id, token in enumerate(tokens)}
    tokenizer = SimpleNamespace(get_vocab=lambda: ids, convert_ids_to_tokens=lambda _: [space])
    fake = type("Fake", (), {"__call__": lambda *_, **__: SimpleNamespace(input_ids=[0])} | vars(tokenizer))
    fake.get_vocab, fake.convert_ids_to_tokens = lambda self: ids, lambda self, _: [space]
    return Vocabulary("/".join(tokens), size or len(tokens), fake())


def refused(check, message, *arguments, **settings):
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        check(*arguments, **settings)
    return caught.value.hint


def test_equal_vocabularies_serve_a_draft_model():
    words("a", "b").check_same(words("a", "b"))


def test_vocabularies_that_differ_are_refused_with_the_overlap():
    """Of three and four ids, `a` and `b` stand in the same place: 2 / 4."""
    hint = refused(words("a", "b", "c").check_same, "(3 ids) and `a/b/d/c` (4 ids) differ: 50.0%", words(*"abdc"))
    assert hint.endswith("or use the method `universal`")


def test_two_tokenizers_of_one_size_are_not_sent_to_universal_decoding():
    hint = refused(words("a", "b").check_same, "differ: 50.0%", words("a", "c"))
    assert "universal" not in hint
    hint = refused(words("a", "b").check_other, "both have 2 ids", words("a", "c"), sampled=False)
    assert hint == "pass a draft with another vocabulary size"


def test_one_tokenizer_over_two_sizes_is_refused_for_a_draft_model():
    assert "universal" in refused(words("a", size=8).check_same, "differ: 100.0%", words("a", size=9))


def test_one_tokenizer_is_sent_back_to_a_draft_model():
    hint = refused(words("a", "b").check_other, "have the same tokenizer", words("a", "b"), sampled=False)
    assert hint == "use the method `draft_model`"


def test_sampling_needs_a_draft_with_words_of_its_own():
    target = words("a", "b", "c")
    hint = refused(target.check_other, "knows every token of `a/b`", words("a", "b"), sampled=True)
    assert hint == "decode greedily: `--temperature 0`"
    target.check_other(words("a", "b"), sampled=False)
    target.check_other(words("a", "d"), sampled=True)


def test_marks_of_a_leading_space_are_no_words_of_its_own():
    """`▁b` is the target's `Ġb`."""
    target, draft = words("a", "Ġb", "c", space="Ġ"), words("a", "▁b", space="▁")
    refused(target.check_other, "knows every token", draft, sampled=True)
