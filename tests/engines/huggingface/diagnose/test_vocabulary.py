import pytest

pytest.importorskip("transformers", reason="needs the extra `hf`")

from specprof.engines.huggingface.diagnose.side import read_side
from specprof.engines.huggingface.diagnose.vocabulary import SAMPLES, draft_findings, target_findings
from specprof.records import Arm


@pytest.fixture
def target(bench):
    return read_side("target", bench.folders["target"], remote=False)


@pytest.fixture
def draft(tiny, tmp_path):
    def build(vocab=60, prefix="w", rows=None, **tokens):
        tokenizer = tiny.build_tokenizer(vocab, prefix)
        for name, token in tokens.items():
            setattr(tokenizer, name, token)
        return read_side("draft", tiny.save(tiny.build_model(vocab=rows or vocab), tmp_path, tokenizer), remote=False)

    return build


def found(target, draft, method="draft_model", temperature=0.0, texts=()):
    arm = Arm(id="a", method=method, draft=draft.name, k=2, temperature=temperature)
    return {finding.what: finding for finding in draft_findings(target, draft, [arm], texts)}


def test_one_tokenizer_leaves_the_draft_model_and_not_universal(target, draft):
    finding = found(target, draft())["tokenizers"]
    assert finding.level == "ok"
    assert "100.0% of the tokens have the same id" in finding.value
    assert "`draft_model` can, `universal` cannot draft with it; `prompt_lookup` needs no draft" in finding.meaning
    assert found(target, draft(), "universal")["tokenizers"].level == "blocker"


def test_another_tokenizer_blocks_the_draft_model_with_the_overlap(target, draft):
    """60 ids each, `<unk>` and `</s>` in common: 2 / 60."""
    finding = found(target, draft(prefix="v"))["tokenizers"]
    assert finding.level == "blocker"
    assert finding.figures == {
        "target_tokens": 60,
        "draft_tokens": 60,
        "same_id_share": pytest.approx(2 / 60),
        "mapped_share": pytest.approx(2 / 60),
    }
    assert "`universal` cannot" in finding.meaning  # as many ids: transformers takes the two for one


def test_universal_is_fine_where_most_tokens_map_and_a_warning_where_few_do(target, draft):
    finding = found(target, draft(vocab=64), "universal")["tokenizers"]
    assert (finding.level, finding.figures["mapped_share"]) == ("ok", 60 / 64)
    finding = found(target, draft(vocab=64, prefix="v"), "universal")["tokenizers"]
    assert (finding.level, finding.figures["mapped_share"]) == ("warning", 2 / 64)
    assert "most proposals are lost" in finding.meaning


def test_a_padded_draft_is_sent_to_universal(target, draft):
    finding = found(target, draft(rows=64))["tokenizers"]
    assert (finding.level, finding.figures["same_id_share"]) == ("blocker", 1)
    assert "universal" in finding.hint


def test_both_ways_of_marking_a_space_are_one(target, draft):
    theirs = draft()
    target.__dict__["tokens"], theirs.__dict__["tokens"] = {"Ġthe": 0, "a": 1}, {"▁the": 1, "b": 0}
    assert found(target, theirs)["tokenizers"].figures["mapped_share"] == 1 / 2


def test_special_tokens_that_differ_are_named_with_their_ids(target, draft):
    assert found(target, draft())["special-tokens"].level == "ok"
    finding = found(target, draft(eos_token="w7", pad_token="w9"))["special-tokens"]
    assert finding.level == "warning"
    assert "eos `</s>` (1) against `w7` (7), pad none against `w9` (9)" in finding.value


def test_a_round_trip_that_changes_text_is_a_warning_for_universal_alone(target, draft):
    """The tiny tokenizer knows w2, w3, …: every sample becomes `<unk>`."""
    finding = found(target, draft(vocab=64), "universal", texts=["w2 w3"])["round-trip"]
    assert (finding.level, finding.figures) == ("warning", {"tried": len(SAMPLES) + 1, "kept": 1})
    assert "changed is `The lighthouse keeper's daugh…`" in finding.value
    assert found(target, draft())["round-trip"].level == "ok"


def test_a_missing_chat_template_is_said(target):
    assert "has none" in next(target_findings(target, ())).value
    target.tokenizer.chat_template = "{{ messages }}"
    assert "has one" in next(target_findings(target, ())).value


def test_a_missing_tokenizer_is_a_blocker_of_its_side(edited, target):
    from pathlib import Path

    folder = edited()
    for path in Path(folder).glob("tokenizer*"):
        path.unlink()
    side = read_side("target", folder, remote=False)
    (finding,) = target_findings(side, ())
    assert (finding.what, finding.level) == ("tokenizers", "blocker")
    assert [f.level for f in found(target, read_side("draft", folder, remote=False)).values()] == ["blocker"]
