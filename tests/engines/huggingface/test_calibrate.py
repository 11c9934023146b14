import functools
from collections import Counter

import pytest

from specprof.calibrate.contexts import contexts_for
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


@pytest.mark.parametrize(
    ("models", "settings", "drafts"),
    [
        ("universal", {"method": "universal", "k": 3}, 2),
        ("layered", {"method": "early_exit", "k": 3, "options": {"early_exit": 4}}, 2),
        ("seq2seq", {"method": "draft_model", "k": 3}, 2),
        ("seq2seq", {"method": "prompt_lookup", "k": 3}, 1),
        ("mtp", {"method": "mtp", "k": 2}, 1),
        ("dflash", {"method": "dflash", "k": 3}, 1),
        ("single_position", {"method": "single_position", "k": 3}, 2),
    ],
)
def test_every_method_is_timed(pair, tiny, models, settings, drafts):
    bench = pair(models)
    engine, arm = HuggingFaceEngine(), bench.arm(**settings)
    engine.check(bench.config(arm))
    with engine:
        samples = list(engine.calibrate([arm], [40], 2, [tiny.prompt(0, 30)]))
    for repeat in (0, 1):
        here = [s for s in samples if s.repeat == repeat]
        assert sorted(s.width for s in here if s.kind == "round") == list(range(arm.k + 1))
        assert len([s for s in here if s.kind == "draft" and s.us > 0]) == drafts
        assert [s.arm for s in here if s.kind == "setup"] == [arm.id]


def test_a_target_that_attends_to_a_window_is_timed_beyond_it(calibrate, tiny, tmp_path):
    """16 positions of window, 40 of context."""
    from transformers import MistralConfig, MistralForCausalLM

    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    shape |= {"num_key_value_heads": 2}
    config = MistralConfig(vocab_size=60, sliding_window=16, max_position_embeddings=160, eos_token_id=1, **shape)
    model = tiny.save(MistralForCausalLM(config).eval(), tmp_path)
    samples = calibrate(Arm(id="l", method="prompt_lookup", k=2), contexts=[40], repeats=1, model=model)
    assert Counter(s.kind for s in samples) == {"plain": 1, "round": 3, "draft": 1, "setup": 1}


def test_the_contexts_that_are_chosen_for_deep_drafts_fit(bench, calibrate, tiny):
    """160 positions: k = 16 takes 104 tokens beside the context."""
    arm = bench.arm("prompt_lookup", k=16)
    engine, config = HuggingFaceEngine(), bench.config(arm)
    engine.check(config)
    with engine:
        contexts = contexts_for(engine, [tiny.prompt(0, 100)], config, engine.describe())
    assert contexts == (56,)
    assert {s.context for s in calibrate(arm, contexts=contexts, repeats=1)} == {56}


def test_deep_drafts_that_fit_at_no_context_are_refused_with_the_way_out(bench, calibrate):
    with pytest.raises(UsageError, match="k = 30 takes 186 tokens beside the context, and the model has 160") as error:
        calibrate(bench.arm("prompt_lookup", k=30), contexts=[8])
    assert "lower `--k`" in error.value.hint


def test_an_encoder_decoder_says_so(pair, bench):
    for models, expected in ((pair("seq2seq"), True), (bench, False)):
        engine = HuggingFaceEngine()
        engine.check(models.config(models.arm("prompt_lookup")))
        with engine:
            assert engine.describe()["encoder_decoder"] is expected
