import numpy as np
import pytest
from reference_decoder import forward

from specprof.engines.base import Scores
from specprof.engines.huggingface import HuggingFaceEngine
from specprof.errors import BadRecordError
from specprof.records import Arm, EngineConfig, Job, Prompt


@pytest.fixture
def scored(bench):
    def ask(prompt, ids, **settings):
        engine = HuggingFaceEngine()
        engine.check(bench.config(bench.baseline(), **settings))
        with engine:
            assert isinstance(engine, Scores)
            return engine.score(prompt, ids)

    return ask


def test_a_row_for_every_place_of_the_answer_and_the_one_after_it(bench, scored, tiny):
    prompt, answer = tiny.prompt(3), (5, 9, 4)
    ids = tiny.build_tokenizer()(prompt.text).input_ids
    expected = forward(bench.models["target"], [*ids, *answer])[len(ids) - 1 :].log_softmax(-1).numpy()
    rows = scored(prompt, answer)
    assert (rows.shape, rows.dtype) == ((4, tiny.VOCAB), np.float32)
    assert rows == pytest.approx(expected, abs=1e-5)


def test_an_empty_answer_has_the_row_of_its_first_place(scored, tiny):
    prompt = tiny.prompt(0)
    assert scored(prompt, ()) == pytest.approx(scored(prompt, (7,))[:1], abs=1e-5)


def test_the_likeliest_tokens_are_the_baselines_greedy_answer(bench, scored, tiny):
    (request,) = bench.run(bench.job(bench.baseline(), index=2, max_tokens=8))
    rows = scored(tiny.prompt(2), request.output_ids)
    assert rows[:-1].argmax(-1).tolist() == list(request.output_ids)


def test_half_precision_is_scored_in_single(scored, tiny):
    rows = scored(tiny.prompt(0), (7,), dtype="bfloat16")
    assert rows.dtype == np.float32
    assert np.exp(rows).sum(axis=-1) == pytest.approx([1, 1], abs=1e-4)


def test_what_does_not_fit_the_context_is_refused(scored, tiny):
    with pytest.raises(BadRecordError, match=f"18 \\+ 143 tokens, the context {tiny.CONTEXT}"):
        scored(tiny.prompt(0), [2] * 143)


def test_a_prompt_without_tokens_is_refused(scored):
    with pytest.raises(BadRecordError, match="has no tokens"):
        scored(Prompt(id="p", task="t", text="", place="x.jsonl:3"), (2,))


def test_an_encoder_decoder_scores_what_its_decoder_would_say_next(tiny, tmp_path):
    from transformers import T5Config, T5ForConditionalGeneration

    shape = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "initializer_factor": 3.0}
    ends = {"decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1}
    model = T5ForConditionalGeneration(T5Config(vocab_size=tiny.VOCAB, **shape, **ends)).eval()
    config = EngineConfig(arms=(Arm("baseline", method="none"),), model=tiny.save(model, tmp_path), save_text=True)
    engine = HuggingFaceEngine()
    engine.check(config)
    with engine:
        (request,) = engine.generate([Job("r", tiny.prompt(0), 0, config.arms[0], 0, 6)])
        rows = engine.score(tiny.prompt(0), request.output_ids)
    assert rows.shape == (len(request.output_ids) + 1, tiny.VOCAB)
    assert rows[:-1].argmax(-1).tolist() == list(request.output_ids)
