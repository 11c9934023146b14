"""Every way of drafting that is there for a tiny pair, sampled and held against the target's own distribution.

`python -m sampled_methods` prints what `specprof verify` makes of them.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import tiny_models
import torch

from specprof.engines.huggingface import HuggingFaceEngine
from specprof.lossless.result import Result
from specprof.lossless.text import render
from specprof.lossless.verify import verify
from specprof.records import Arm

LOSSLESS = ("constant", "threshold", "lookup", "early-exit")
LOSSY = ("universal", "ensemble")


def foreign(bench: Any, folder: Path) -> str:
    """The noisy draft behind a tokenizer with the same words under other ids, and 14 words of its own."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    ours = tiny_models.build_tokenizer().get_vocab()
    words = ["<unk>", "</s>", *sorted(ours.keys() - {"<unk>", "</s>"}, key=ours.get, reverse=True)]
    words += [f"x{index}" for index in range(14)]
    fast = Tokenizer(models.WordLevel({word: id for id, word in enumerate(words)}, unk_token="<unk>"))
    fast.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=fast, unk_token="<unk>", eos_token="</s>")
    draft, noisy = tiny_models.build_model(seed=5, vocab=len(words)), bench.models["noisy"].state_dict()
    with torch.no_grad():
        for name, weight in draft.state_dict().items():
            if weight.shape == noisy[name].shape:
                weight.copy_(noisy[name])
            else:
                weight[: tiny_models.VOCAB] = noisy[name][[ours[word] for word in words[: tiny_models.VOCAB]]]
    return tiny_models.save(draft, folder, tokenizer)


def judged(bench: Any, folder: Path) -> Result:
    """200 answers of 5 tokens per arm to two prompts, from the four likeliest tokens at each place."""
    noisy = bench.folders["noisy"]
    ways = {
        "constant": {"method": "draft_model", "draft": noisy},
        "threshold": {"method": "draft_model", "draft": noisy, "schedule": "confidence", "threshold": 0.4},
        "lookup": {"method": "prompt_lookup"},
        "early-exit": {"method": "early_exit", "options": {"early_exit": 1}},
        "universal": {"method": "universal", "draft": foreign(bench, folder)},
        "ensemble": {"method": "draft_model", "draft": noisy, "options": {"assistant_ensemble_weight": 0.5}},
    }
    arms = [Arm(id=name, k=3, temperature=1.0, top_k=4, **way) for name, way in ways.items()]
    config = bench.config(*arms, bench.baseline(temperature=1.0, top_k=4), save_text=True, max_tokens=5, threads=1)
    prompts = [tiny_models.prompt(0), tiny_models.prompt(1)]
    return verify(HuggingFaceEngine(), config, prompts, samples=100, resolution=0.2)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        bench = tiny_models.Bench(Path(scratch))
        sys.stdout.write("\n".join(render(judged(bench, Path(scratch) / "foreign"))) + "\n")
