import functools
from collections import Counter
from dataclasses import replace

import pytest

from specprof.engines.base import Calibrates
from specprof.engines.huggingface import HuggingFaceEngine
from specprof.errors import UsageError
from specprof.records import Arm, Prompt

torch = pytest.importorskip("torch", reason="needs the extra `hf`")


@pytest.fixture(scope="module")
def calibrate(bench, tiny):
    def run(*arms, contexts=(20, 60), repeats=2, **settings):
        engine = HuggingFaceEngine()
        engine.check(bench.config(*arms, **settings))
        with engine:
            return list(engine.calibrate(arms, contexts, repeats, settings.pop("prompts", [tiny.prompt(0, 30)])))

    return run


@pytest.fixture(scope="module")
def samples(bench, calibrate):
    arms = [
        bench.baseline(),
        bench.arm(id="d2", k=2),
        bench.arm(id="d4", k=4),
        bench.arm(id="same", draft="same", k=3),
        bench.arm(id="stops", k=4, schedule="confidence", threshold=0.9),
        bench.arm("prompt_lookup", id="lookup", k=4),
    ]
    return calibrate(*arms)


def test_the_engine_calibrates():
    assert isinstance(HuggingFaceEngine(), Calibrates)


def test_every_repeat_of_every_context_has_every_kind(samples):
    assert {(s.context, s.repeat) for s in samples} == {(20, 0), (20, 1), (60, 0), (60, 1)}
    for place in {(s.context, s.repeat) for s in samples}:
        here = Counter((s.kind, s.arm) for s in samples if (s.context, s.repeat) == place)
        assert here[("plain", None)] == 1
        assert {arm for kind, arm in here if kind == "setup"} == {"d2", "same", "stops", "lookup"}


def test_rounds_have_every_width_once(samples):
    for place in {(s.context, s.repeat) for s in samples}:
        widths = [s.width for s in samples if s.kind == "round" and (s.context, s.repeat) == place]
        assert sorted(widths) == [0, 1, 2, 3, 4]


def test_a_drafter_is_timed_at_k_and_at_one_token_whatever_its_confidence(samples):
    """`d2` and `d4` share a drafter, which is timed up to 4 under the first one's id."""
    for arm, k in (("d2", 4), ("same", 3), ("stops", 4)):
        widths = Counter(s.width for s in samples if s.kind == "draft" and s.arm == arm)
        assert widths == {k: 4, 1: 4}


def test_times_are_positive_and_in_microseconds(samples):
    """A forward of a tiny model takes between 0.1 ms and 0.1 s on anything that runs these tests."""
    for s in samples:
        if s.kind in ("plain", "round"):
            assert 100 < s.us < 100_000


def test_the_loop_is_the_real_one_at_the_context_asked_for(bench, calibrate, monkeypatch):
    """Every forward of the target is seen: it feeds at most what is new and the cache is near the nominal context."""
    model = type(bench.models["target"])
    seen, forward = [], model.forward

    @functools.wraps(forward)
    def watched(self, input_ids=None, cache=None, **kwargs):
        before = cache.get_seq_length() if cache is not None else 0
        if self.name_or_path == bench.folders["target"]:
            seen.append((before, input_ids.shape[1]))
        return forward(self, input_ids=input_ids, cache=cache, **kwargs)

    monkeypatch.setattr(model, "forward", watched)
    calibrate(bench.arm(k=4), bench.arm("prompt_lookup", k=4), contexts=[60], repeats=3)
    prefill, *rest = seen
    assert prefill == (0, 60)
    assert {fed for _, fed in rest} == {1, 2, 3, 4, 5}
    assert all(50 <= cached <= 60 + 20 for cached, _ in rest)


def test_nothing_of_the_model_is_left_changed(bench):
    engine, arm = HuggingFaceEngine(), bench.arm(k=2)
    engine.check(bench.config(arm, save_text=True))
    with engine:
        job = bench.job(arm)
        (before,) = engine.generate([job])
        names = set(vars(engine._loaded.target))
        list(engine.calibrate([arm], [20], 1, [job.prompt]))
        (after,) = engine.generate([job])
        assert set(vars(engine._loaded.target)) == names
    assert before.output_ids == after.output_ids
    assert [(r.proposed, r.accepted) for r in before.rounds] == [(r.proposed, r.accepted) for r in after.rounds]


def test_going_on_from_the_shared_prefix_gives_the_tokens_of_a_whole_prefill(bench):
    from transformers import GenerationConfig

    from specprof.engines.huggingface.prefix import Prefix, only_new_tokens

    target, text = bench.models["target"], torch.arange(2, 42)[None] % 11 + 2
    prefix = Prefix(target, text, 30)
    for settings in ({}, {"prompt_lookup_num_tokens": 3}):
        config = GenerationConfig(max_new_tokens=12, do_sample=False, **settings)
        for start in (30, 24, 1):
            with only_new_tokens(target):
                found = target.generate(**prefix.inputs(start, True), generation_config=config)
            plain = GenerationConfig(max_new_tokens=12, do_sample=False)
            assert found.tolist() == target.generate(text[:, :start], generation_config=plain).tolist()


def test_sampling_arms_are_timed_with_sampling(bench, calibrate):
    samples = calibrate(bench.arm(k=2, temperature=0.8, top_p=0.9), contexts=[20], repeats=1)
    assert Counter(s.kind for s in samples) == {"plain": 1, "round": 3, "draft": 2, "setup": 1}


def test_a_context_that_does_not_fit_is_refused_with_what_does(bench, calibrate):
    """160 positions, and up to 31 for the rounds: widths 0 to 4 and one token more each, twice 4, and 8."""
    with pytest.raises(UsageError, match="context of 150 cached tokens") as error:
        calibrate(bench.arm(k=4), contexts=[20, 150])
    assert "1 to 134" in error.value.hint


def test_prompts_without_tokens_are_refused(bench):
    engine, arm = HuggingFaceEngine(), bench.arm(k=2)
    engine.check(bench.config(arm))
    with engine, pytest.raises(UsageError, match="no tokens"):
        list(engine.calibrate([arm], [20], 1, [Prompt(id="p", task="t", text="")]))


def test_a_text_shorter_than_the_context_is_repeated(bench, calibrate, tiny):
    samples = calibrate(Arm(id="l", method="prompt_lookup", k=2), contexts=[100], repeats=1)
    assert {s.context for s in samples} == {100}


@pytest.fixture(scope="module")
def other_models(bench, tiny, tmp_path_factory):
    """A draft with a tokenizer of its own, an encoder-decoder target, and a target that attends to a window."""
    import transformers as hf

    folder, shape = tmp_path_factory.mktemp("others"), {"vocab_size": 60, "eos_token_id": 1, "pad_token_id": 0}
    torch.manual_seed(0)
    encoder_decoder = hf.T5Config(
        d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0, **shape
    )
    window = hf.MistralConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        sliding_window=16, max_position_embeddings=160, **shape,
    )  # fmt: skip
    return {
        "translated": tiny.save(tiny.build_model(1, 70), folder / "u", tiny.build_tokenizer(70, "v")),
        "encoder_decoder": tiny.save(hf.T5ForConditionalGeneration(encoder_decoder).eval(), folder / "t5"),
        "window": tiny.save(hf.MistralForCausalLM(window).eval(), folder / "window"),
    }


@pytest.mark.parametrize(
    ("arm", "model"),
    [
        (Arm(id="a", method="early_exit", k=3, options={"early_exit": 1}), None),
        (Arm(id="a", method="universal", draft="translated", k=3), None),
        (Arm(id="a", method="prompt_lookup", k=3), "encoder_decoder"),
        (Arm(id="a", method="draft_model", draft="encoder_decoder", k=3), "encoder_decoder"),
        (Arm(id="a", method="prompt_lookup", k=3), "window"),
    ],
    ids=["early exit", "universal", "encoder-decoder lookup", "encoder-decoder draft", "sliding window"],
)
def test_other_methods_and_targets_are_timed_too(calibrate, other_models, bench, arm, model):
    arm = replace(arm, draft=other_models.get(arm.draft))
    samples = calibrate(arm, contexts=[40], model=other_models[model] if model else bench.folders["target"])
    for repeat in (0, 1):
        here = [s for s in samples if s.repeat == repeat]
        assert sorted(s.width for s in here if s.kind == "round") == [0, 1, 2, 3]
        drafts = [s for s in here if s.kind == "draft"]
        assert len(drafts) == (1 if arm.method == "prompt_lookup" else 2)
        assert all(s.us > 0 for s in drafts)
        assert [s.arm for s in here if s.kind == "setup"] == ["a"]
