import re
import sys
from pathlib import Path

import pytest

from specprof.engines.huggingface import HuggingFaceEngine
from specprof.errors import EnvironmentError_, UsageError
from specprof.records import Arm

pytest.importorskip("transformers", reason="needs the extra `hf`")


def check(bench, arm=None, **settings):
    HuggingFaceEngine().check(bench.config(arm or bench.arm("prompt_lookup"), **settings))


def test_a_sound_configuration_passes(bench):
    check(bench, bench.arm())
    check(bench, options={"num_beams": "1", "trust_remote_code": "false"}, dtype="bfloat16")


def test_a_missing_extra_is_answered_with_the_command_that_installs_it(bench, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(EnvironmentError_, match="torch") as caught:
        check(bench)
    assert "pip install '.[hf]'" in caught.value.hint


def test_a_usage_fault_is_told_before_a_missing_extra(bench, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UsageError, match="k = 0"):
        check(bench, bench.arm(k=0))


@pytest.mark.parametrize("version", ["5.23.1", "4.57.1", "6.0.0.dev0"])
def test_a_transformers_whose_boundary_nobody_read_is_refused(bench, monkeypatch, version):
    monkeypatch.setattr("transformers.__version__", version)
    with pytest.raises(EnvironmentError_, match=re.escape(f"transformers {version} is not supported")):
        check(bench)


def test_a_transformers_without_the_seam_is_refused(bench, monkeypatch):
    monkeypatch.delattr("transformers.GenerationMixin._get_candidate_generator")
    with pytest.raises(EnvironmentError_, match=r"transformers 5\.\d+\.\d+ has no `_get_candidate_generator`"):
        check(bench)


def test_a_gpu_that_is_not_there_is_an_environment_fault(bench):
    with pytest.raises(EnvironmentError_, match="device `cuda:99` is not there"):
        check(bench, device="cuda:99")


def test_a_folder_that_is_no_model_is_refused(bench, tmp_path):
    with pytest.raises(EnvironmentError_, match=r"has no `config\.json`"):
        check(bench, model=str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(EnvironmentError_, match="has no weights"):
        check(bench, model=str(tmp_path))


@pytest.mark.parametrize("name", ["./no/such/folder", "/no/such/folder", __file__])
def test_a_path_that_is_no_folder_is_not_taken_for_a_hub_id(bench, name):
    with pytest.raises(EnvironmentError_, match="is not a folder"):
        check(bench, model=name)


def test_a_hub_id_that_is_not_cached_is_refused_offline(bench, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(EnvironmentError_, match="cannot read model `nobody/no-such-model`"):
        check(bench, model="nobody/no-such-model")


def test_a_broken_config_is_refused(bench, edited):
    folder = edited()
    Path(folder, "config.json").write_text("{")
    with pytest.raises(EnvironmentError_, match="cannot read model"):
        check(bench, model=folder)


def test_a_missing_tokenizer_is_refused(bench, edited):
    folder = edited()
    for path in Path(folder).glob("tokenizer*"):
        path.unlink()
    with pytest.raises(EnvironmentError_, match="cannot read tokenizer of"):
        check(bench, bench.arm(), model=folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "mamba"}, r"\(mamba\) keeps a recurrent state"),
        ({"model_type": "jamba"}, r"\(jamba\) keeps a recurrent state"),
        ({"model_type": "t5", "is_encoder_decoder": True}, "is an encoder-decoder model: not offered yet"),
        ({"model_type": "vit"}, r"\(vit\) does not generate text"),
        ({"use_cache": False}, "sets `use_cache` to false"),
    ],
)
def test_a_model_that_cannot_be_assisted_is_refused_before_its_weights_load(bench, edited, changes, message):
    folder = edited(**changes)
    with pytest.raises(UsageError, match=message):
        check(bench, model=folder)
    with pytest.raises(UsageError, match=message):
        check(bench, Arm(id="a", method="draft_model", draft=folder, k=2))


def test_tokenizers_that_differ_are_refused_with_the_overlap(bench, tiny, tmp_path):
    """60 ids each, `<unk>` and `</s>` in common: 2 / 60 = 3.3 %."""
    other = tiny.save(tiny.build_model(), tmp_path, tiny.build_tokenizer(prefix="v"))
    with pytest.raises(UsageError, match=re.escape("3.3% of the tokens have the same id")) as caught:
        check(bench, Arm(id="a", method="draft_model", draft=other, k=2))
    assert "universal decoding is not offered yet" in caught.value.hint


def test_one_tokenizer_over_two_vocabulary_sizes_is_refused(bench, tiny, tmp_path):
    other = tiny.save(tiny.build_model(vocab=64), tmp_path)
    with pytest.raises(UsageError, match=re.escape("(60 ids)") + ".*" + re.escape("(64 ids) differ: 100.0%")):
        check(bench, Arm(id="a", method="draft_model", draft=other, k=2))
