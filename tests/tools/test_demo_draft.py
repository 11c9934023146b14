"""The draft that ships with specprof, and how it is made."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `hf`")
pytest.importorskip("transformers", reason="needs the extra `hf`")
from safetensors.torch import load_file, save_file  # noqa: E402

ROOT = Path(__file__).parents[2]
DATA = ROOT / "specprof" / "data" / "demo_draft"


@pytest.fixture
def recipe(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "demo_draft"))
    torch.manual_seed(0)
    import distill
    import student
    import teacher

    yield distill, student, teacher
    for name in ("distill", "student", "teacher"):
        del sys.modules[name]


def test_it_is_small_and_says_where_it_comes_from():
    assert (DATA / "draft.safetensors").stat().st_size <= 2 * 2**20
    text = (DATA / "README.md").read_text()
    assert "Apache-2.0" in text
    assert "make demo-draft" in text


def test_its_embeddings_are_the_targets_times_the_projections(tmp_path, tiny, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import demo_model

    shipped = load_file(DATA / "draft.safetensors")
    target = tmp_path / "target"
    tiny.build_tokenizer().save_pretrained(target)
    embedding = torch.randn(49152, 576, generator=torch.Generator().manual_seed(0))
    save_file({"model.embed_tokens.weight": embedding}, target / "model.safetensors")
    demo_model._rebuild(DATA, target, tmp_path / "draft")
    rebuilt = load_file(tmp_path / "draft" / "model.safetensors")
    for name, projection in (("model.embed_tokens.weight", "project_in"), ("lm_head.weight", "project_out")):
        assert torch.allclose(rebuilt[name][777], embedding[777] @ shipped[projection].float(), rtol=1e-3, atol=1e-4)
    assert torch.equal(
        rebuilt["model.layers.1.mlp.up_proj.weight"], shipped["model.layers.1.mlp.up_proj.weight"].float()
    )


def test_the_loss_is_the_cross_entropy_on_the_likeliest_tokens(recipe):
    """With every token in the sample, the sampled softmax is the softmax."""
    distill, student, teacher = recipe
    pupil = student.Student(_config(student), torch.randn(300, 160))
    likely, log_probs = (
        torch.tensor([[3, 9], [250, 1], [9, 8]]),
        torch.tensor([[0.7, 0.2], [0.5, 0.4], [0.9, 0.1]]).log(),
    )
    lesson = teacher.Lesson("code", [5, 6, 7], 1, likely.int(), log_probs.half())
    got = distill._loss(pupil, [lesson])
    ids, mask = teacher.padded([[5, 6, 7]])
    log_q = pupil(ids, mask, torch.arange(300)).log_softmax(-1)
    wanted = [
        -sum(p.exp() * log_q[at, token] for token, p in zip(likely[at], log_probs[at], strict=True)) for at in range(3)
    ]
    assert float(got.detach()) == pytest.approx(float(sum(wanted).detach() / 3), rel=0.02)


def test_a_student_that_is_taught_agrees_with_its_teacher(recipe):
    distill, student, teacher = recipe
    pupil = student.Student(_config(student), torch.randn(300, 160))
    text = [5, 6, 7, 8, 9, 10]
    likely = torch.tensor([[token + 1] for token in text])
    lesson = teacher.Lesson("code", text, 2, likely.int(), torch.zeros(6, 1).half())
    before = distill.agreement(pupil, [lesson])["code"]
    distill.train(pupil, [lesson], epochs=60, seed=0)
    assert before < 1 == distill.agreement(pupil, [lesson])["code"]


def _config(student):
    from transformers import LlamaConfig

    ends = {"bos_token_id": 1, "eos_token_id": 2}
    shape = {"hidden_size": 160, "num_attention_heads": 4}
    return student.config_of(LlamaConfig(vocab_size=300, max_position_embeddings=64, **shape, **ends))
