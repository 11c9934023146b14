import re
import sys
from pathlib import Path

import pytest

from specprof.engines.huggingface import HuggingFaceEngine
from specprof.errors import EnvironmentError_, UsageError

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
