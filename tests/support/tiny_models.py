"""Tiny random models, and a bench that holds the Hugging Face engine against the reference decoder."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from reference_decoder import EOS, Reference, decode

from specprof.engines.huggingface import HuggingFaceEngine
from specprof.records import Arm, EngineConfig, Job, Prompt

VOCAB, CONTEXT = 60, 160  # over 50 words, which is transformers' own top_k
WITH_DRAFT = ("draft_model", "universal", "dflash", "single_position")


def build_tokenizer(vocab: int = VOCAB, prefix: str = "w") -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {"<unk>": 0, "</s>": EOS} | {f"{prefix}{index}": index for index in range(2, vocab)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", eos_token="</s>")


def build_model(seed: int = 0, vocab: int = VOCAB, **settings: Any) -> Any:
    """Weights far from zero, so that no choice is so close that a cached and a plain pass could differ."""
    torch.manual_seed(seed)
    defaults = {"eos_token_id": EOS, "bos_token_id": None, "pad_token_id": None, "initializer_range": 0.25}
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    limits = {"vocab_size": vocab, "max_position_embeddings": CONTEXT}
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**(defaults | shape | limits | settings))).eval()


def save(model: Any, folder: Path, tokenizer: Any = None) -> str:
    model.save_pretrained(folder)
    (tokenizer or build_tokenizer()).save_pretrained(folder)
    return str(folder)


def noisy(model: Any, scale: float) -> Any:
    """The same model with noise on every weight: a draft that is right now and then."""
    torch.manual_seed(99)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * weight.std() * scale)
    return model


def prompt(index: int, length: int = 12) -> Prompt:
    """Words that repeat after a while, so that prompt lookup finds something."""
    words = [f"w{2 + (index * 7 + position * position * 5) % 11}" for position in range(length)]
    return Prompt(id=f"p{index}", task="words", text=" ".join(words + words[: length // 2]))


def llamas(folder: Path) -> dict[str, Any]:
    """A target, itself with noise, and itself."""
    models = {"target": build_model(), "noisy": noisy(build_model(), 0.15), "same": build_model()}
    for name, model in models.items():
        save(model, folder / name)
    return models


class Bench:
    """A tiny target, drafts for it, and an engine over them; `compare` holds the engine against the reference. `build`
    makes the models, the target first, and saves them under their names."""

    def __init__(self, folder: Path, device: str = "cpu", build: Callable[[Path], dict[str, Any]] = llamas) -> None:
        self.device = device
        self.models = {name: model.to(device) for name, model in build(folder).items()}
        self.folders = {name: str(folder / name) for name in self.models if (folder / name).is_dir()}
        _, self.draft, *_ = [*self.models, "target"]

    def arm(self, method: str = "draft_model", k: int = 4, draft: str | None = None, **settings: Any) -> Arm:
        model = self.folders[draft or self.draft] if method in WITH_DRAFT else None
        return Arm(id=settings.pop("id", method), method=method, draft=model, k=k, **settings)

    def baseline(self, **settings: Any) -> Arm:
        return Arm(id="baseline", method="none", **settings)

    def job(self, arm: Arm, index: int = 0, max_tokens: int = 24, seed: int = 0, **settings: Any) -> Job:
        asked = settings.pop("prompt", None) or prompt(index)
        return Job(f"{arm.id}-{index}-{seed}", asked, 0, arm, seed, max_tokens, **settings)

    def config(self, *arms: Arm, **settings: Any) -> EngineConfig:
        return EngineConfig(arms=arms, **({"model": self.folders["target"], "device": self.device} | settings))

    def run(self, *jobs: Job, **settings: Any) -> list[Any]:
        engine = HuggingFaceEngine()
        engine.check(self.config(*{job.arm.id: job.arm for job in jobs}.values(), **({"save_text": True} | settings)))
        with engine:
            return list(engine.generate(jobs))

    def tokenizer(self, name: str) -> Any:
        return transformers.AutoTokenizer.from_pretrained(self.folders.get(name, self.folders["target"]))

    def reference(self, job: Job, draft: str, ends: Sequence[int]) -> Reference:
        tokenizers = self.tokenizer("target"), self.tokenizer(draft)
        ids = tokenizers[0](job.prompt.text).input_ids
        return decode(self.models["target"], self.models[draft], job, ids, tokenizers, ends)

    def compare(self, *jobs: Job, draft: str | None = None, **settings: Any) -> list[Any]:
        """Rounds and output of every job are those of the reference; returns the requests for more questions."""
        requests = self.run(*jobs, **settings)
        for job, request in zip(jobs, requests, strict=True):
            expected = self.reference(job, draft or self.draft, () if settings.get("fixed_length") else (EOS,))
            assert [(r.proposed, r.accepted, r.emitted) for r in request.rounds] == expected.rounds, job.request_id
            assert list(request.output_ids) == expected.output, job.request_id
            assert request.response_tokens == sum(r.emitted for r in request.rounds) == len(expected.output)
        return requests
