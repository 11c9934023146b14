import sys

import pytest

pytest.importorskip("transformers", reason="needs the extra `hf`")

from specprof.engines.base import Diagnoses
from specprof.engines.huggingface import HuggingFaceEngine
from specprof.errors import UsageError
from specprof.records import FINDINGS, LEVELS, Arm


def look(config, texts=()):
    return list(HuggingFaceEngine().diagnose(config, texts))


def test_a_sound_pair_has_no_blocker_and_every_finding_is_of_the_closed_list(bench):
    findings = look(bench.config(bench.arm()), ["w2 w3"])
    assert isinstance(HuggingFaceEngine(), Diagnoses)
    assert {finding.what for finding in findings} <= set(FINDINGS)
    assert {finding.level for finding in findings} <= set(LEVELS) - {"blocker"}
    assert {"versions", "model", "tokenizers", "special-tokens", "round-trip", "memory", "threads"} <= {
        finding.what for finding in findings
    }


def test_without_a_draft_nothing_is_said_of_one(bench):
    whats = {finding.what for finding in look(bench.config(bench.arm("prompt_lookup")))}
    assert not whats & {"tokenizers", "special-tokens", "draft-memory"}


def test_a_draft_that_cannot_be_read_does_not_hide_the_rest(bench, tmp_path):
    findings = look(bench.config(Arm(id="a", method="draft_model", draft=str(tmp_path), k=2)))
    (blocker,) = [finding for finding in findings if finding.level == "blocker"]
    assert (blocker.what, "has no `config.json`" in blocker.value) == ("model", True)
    assert "memory" in {finding.what for finding in findings}


def test_a_target_that_cannot_be_read_is_a_blocker(bench, tmp_path):
    findings = look(bench.config(bench.arm(), model=str(tmp_path)))
    assert [finding.what for finding in findings if finding.level == "blocker"] == ["model"]


def test_a_missing_extra_and_a_missing_gpu_are_blockers(bench, monkeypatch):
    (finding,) = look(bench.config(bench.arm(), device="cuda:99"))
    assert (finding.level, "is not there" in finding.value) == ("blocker", True)
    monkeypatch.setitem(sys.modules, "torch", None)
    (finding,) = look(bench.config(bench.arm()))
    assert (finding.level, "pip install" in finding.hint) == ("blocker", True)


def test_a_fault_of_the_flags_is_told_as_such(bench):
    with pytest.raises(UsageError, match="no target model"):
        look(bench.config(bench.arm(), model=None))
