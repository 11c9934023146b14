"""The tiny target has 2 layers, 4 heads of 8 and float32: 2 · 2 · 4 · 8 · 4 = 512 bytes per cached token."""

import os
from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="needs the extra `hf`")

from specprof.engines.huggingface.diagnose import memory
from specprof.engines.huggingface.diagnose.side import read_side


@pytest.fixture
def target(bench):
    return read_side("target", bench.folders["target"], remote=False)


@pytest.fixture
def draft(bench):
    return read_side("draft", bench.folders["noisy"], remote=False)


@pytest.fixture
def weights(bench):
    return os.path.getsize(Path(bench.folders["target"]) / "model.safetensors")


@pytest.fixture
def found(bench, target, draft, monkeypatch):
    def look(free, *, with_draft=False):
        monkeypatch.setattr(memory, "free_bytes", lambda device: free)
        return list(memory.findings(target, [draft] if with_draft else [], bench.config(bench.arm())))

    return look


def test_a_cached_token_costs_its_keys_and_values_in_every_layer(target):
    assert memory.kv_bytes(target.config, None) == 512
    assert memory.kv_bytes(target.config, "bfloat16") == 256


def test_grouped_heads_and_encoder_decoders_have_caches_of_their_own():
    """Llama with 2 key-value heads of 8: 2·3·2·8·4. T5 with 5 decoder layers, 6 heads of 7: 2·5·6·7·4."""
    from transformers import LlamaConfig, T5Config

    llama = LlamaConfig(num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2, hidden_size=32)
    t5 = T5Config(num_layers=2, num_decoder_layers=5, num_heads=6, d_kv=7)
    assert (memory.kv_bytes(llama, None), memory.kv_bytes(t5, None)) == (384, 1680)


def test_half_the_precision_is_half_the_weights(target, weights):
    assert memory.weight_bytes(target, None) == memory.weight_bytes(target, "float32") == weights
    assert memory.weight_bytes(target, "bfloat16") == weights // 2


def test_room_is_what_the_weights_leave_in_cached_tokens(found, weights):
    (finding,) = found(weights + 512 * 1000)
    assert (finding.level, finding.figures["room_tokens"]) == ("ok", 1000)
    assert "room for 1,000 cached tokens, 6 requests of 160" in finding.meaning


def test_weights_that_do_not_fit_are_a_blocker_and_a_context_that_does_not_a_warning(found, weights):
    (finding,) = found(weights - 1)
    assert (finding.level, finding.meaning) == ("blocker", "the weights do not fit")
    (finding,) = found(weights + 512 * 159)
    assert (finding.level, finding.figures["room_tokens"]) == ("warning", 159)


def test_a_draft_takes_its_weights_and_its_cache_from_the_room(found, weights):
    """Alone: 1000 tokens. Beside: the draft's weights are gone, and each token is cached twice."""
    free = weights + 512 * 1000
    together, taken = found(free, with_draft=True)
    beside = (512 * 1000 - weights) // 1024
    assert (taken.figures["room_alone"], taken.figures["room_tokens"]) == (1000, beside)
    assert together.figures["room_tokens"] == beside
    assert together.figures["kv_bytes_per_token"] == 1024


def test_memory_that_nobody_states_is_not_known(found):
    (finding,) = found(None)
    assert (finding.level, finding.value) == ("ok", "not known")


def test_free_memory_is_the_systems_or_what_the_containers_limit_leaves(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:    4 kB\nHugePages_Total: 0\n")
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    assert memory.free_bytes("cpu") == 4096
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("2500\n")
    assert memory.free_bytes("cpu") == 4096
    (tmp_path / "memory.max").write_text("3000\n")
    (tmp_path / "memory.stat").write_text("anon 2000\nfile 500\n")
    assert memory.free_bytes("cpu") == 1000
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "none")
    monkeypatch.setattr(memory, "_CGROUP", tmp_path / "none")
    assert memory.free_bytes("cpu") is None


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (512, "512 B"), (92_160, "92.2 kB"), (538_090_408, "538 MB"), (3e12, "3 TB")]
)
def test_bytes_are_shown_in_powers_of_a_thousand(size, text):
    assert memory.shown(size) == text
