"""Every way of drafting that transformers 5.24 has a tiny model for, sampled: which of them keep the distribution?"""

import pytest

from specprof.engines.huggingface import HuggingFaceEngine
from specprof.lossless.verify import verify
from specprof.records import Arm


@pytest.fixture(scope="module")
def foreign(bench, tiny, tmp_path_factory):
    """The noisy draft behind a tokenizer with the same words under other ids, and 14 words of its own."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    ours = tiny.build_tokenizer().get_vocab()
    words = ["<unk>", "</s>", *sorted(ours.keys() - {"<unk>", "</s>"}, key=ours.get, reverse=True)]
    words += [f"x{index}" for index in range(14)]
    fast = Tokenizer(models.WordLevel({word: id for id, word in enumerate(words)}, unk_token="<unk>"))
    fast.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=fast, unk_token="<unk>", eos_token="</s>")
    draft, noisy = tiny.build_model(seed=5, vocab=len(words)), bench.models["noisy"].state_dict()
    with torch.no_grad():
        for name, weight in draft.state_dict().items():
            if weight.shape == noisy[name].shape:
                weight.copy_(noisy[name])
            else:
                weight[: tiny.VOCAB] = noisy[name][[ours[word] for word in words[: tiny.VOCAB]]]
    return tiny.save(draft, tmp_path_factory.mktemp("foreign"), tokenizer)


@pytest.fixture(scope="module")
def judged(bench, tiny, foreign):
    """200 answers of 5 tokens per arm to two prompts, from the four likeliest tokens at each place."""
    noisy = bench.folders["noisy"]
    ways = {
        "constant": {"method": "draft_model", "draft": noisy},
        "threshold": {"method": "draft_model", "draft": noisy, "schedule": "confidence", "threshold": 0.4},
        "lookup": {"method": "prompt_lookup"},
        "early-exit": {"method": "early_exit", "options": {"early_exit": 1}},
        "universal": {"method": "universal", "draft": foreign},
        "ensemble": {"method": "draft_model", "draft": noisy, "options": {"assistant_ensemble_weight": 0.5}},
    }
    arms = [Arm(id=name, k=3, temperature=1.0, top_k=4, **way) for name, way in ways.items()]
    config = bench.config(*arms, bench.baseline(temperature=1.0, top_k=4), save_text=True, max_tokens=5, threads=1)
    result = verify(HuggingFaceEngine(), config, [tiny.prompt(0), tiny.prompt(1)], samples=100, resolution=0.2)
    return {arm.arm.id: arm for arm in result.arms}


@pytest.mark.parametrize("way", ["constant", "threshold", "lookup", "early-exit"])
def test_a_lossless_method_passes(judged, way):
    assert judged[way].verdict.outcome == "lossless", judged[way].verdict.evidence
    assert 0 < judged[way].drafted["accepted"] < judged[way].drafted["drafted"]


@pytest.mark.parametrize("way", ["universal", "ensemble"])
def test_a_method_that_changes_the_distribution_is_caught(judged, way):
    """Universal decoding in transformers 5.24 puts the draft's probabilities on the wrong tokens."""
    assert judged[way].verdict.outcome == "lossy"
