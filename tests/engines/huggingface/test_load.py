import pytest

from specprof.engines.huggingface import HuggingFaceEngine
from specprof.errors import UsageError
from specprof.records import Arm, EngineConfig, Job, Prompt

transformers = pytest.importorskip("transformers", reason="needs the extra `hf`")
SMALL = {"vocab_size": 60, "bos_token_id": None, "eos_token_id": 1, "pad_token_id": 0}


def run(model, arm, words, max_tokens=40, **settings):
    engine = HuggingFaceEngine()
    engine.check(EngineConfig(arms=(arm,), model=model, save_text=True, **settings))
    with engine:
        return next(iter(engine.generate([Job("j", Prompt("p", "t", " ".join(words)), 0, arm, 0, max_tokens)])))


@pytest.fixture(scope="module")
def bart(tiny, tmp_path_factory):
    """Encoder and decoder take 20 tokens each."""
    shape = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "max_position_embeddings": 20}
    config = transformers.BartConfig(**shape, **heads, **SMALL, decoder_start_token_id=0, forced_eos_token_id=None)
    return tiny.save(transformers.BartForConditionalGeneration(config).eval(), tmp_path_factory.mktemp("bart"))


ARMS = [Arm("baseline", "none"), Arm("a", "prompt_lookup", k=3)]


@pytest.mark.parametrize("arm", ARMS)
def test_prompt_and_response_of_an_encoder_decoder_model_have_a_context_each(bart, arm):
    """A prompt of 20 tokens fits, and so do 19 new ones after the decoder's start."""
    request = run(bart, arm, ["w5"] * 20, fixed_length=True)
    assert (request.prompt_tokens, request.response_tokens, request.max_tokens) == (20, 19, 19)
    skipped = run(bart, arm, ["w5"] * 21)
    assert skipped.excluded == {"prompt longer than the context": 1}


@pytest.mark.parametrize("arm", ARMS)
def test_the_start_of_a_decoder_is_no_part_of_the_response(bart, arm):
    request = run(bart, arm, ["w5", "w6"], max_tokens=6, fixed_length=True)
    assert request.prompt_ids == (5, 6)
    assert len(request.output_ids) == request.response_tokens == 6


def test_a_model_that_ignores_an_early_exit_is_refused(tiny, tmp_path):
    """GPT-2 runs all its layers whatever the configuration says meanwhile."""
    config = transformers.GPT2Config(n_embd=16, n_layer=3, n_head=2, n_positions=64, **SMALL)
    folder = tiny.save(transformers.GPT2LMHeadModel(config), tmp_path)
    arm = Arm("a", "early_exit", k=2, options={"early_exit": 2})
    with pytest.raises(UsageError, match=r"\(gpt2\) runs 3 layers when told to leave after 2"):
        run(folder, arm, ["w5"])
