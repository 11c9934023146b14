"""Random-weight models of two sizes on one device, and the engine over them: no checkpoint is read or written."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from gpu_check.outcome import Budget
from specprof.engines.huggingface import HuggingFaceEngine
from specprof.engines.huggingface.clock import Clock, CudaClock, HostClock
from specprof.engines.huggingface.load import Loaded
from specprof.engines.huggingface.traps import Evidence
from specprof.records import Arm, EngineConfig, Job, Prompt

DRAFT = "the 1B draft"
# The shapes of Llama 3.1 8B and Llama 3.2 1B.
LLAMA_8B = {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32}
LLAMA_1B = {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32}
SAME = {"num_key_value_heads": 8, "vocab_size": 128_256, "max_position_embeddings": 131_072}
TINY = {"hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2}
TINY_SAME = {"vocab_size": 512, "max_position_embeddings": 2048}


@dataclass(frozen=True)
class Pair:
    target: Any
    draft: Any


@dataclass(frozen=True)
class Stand:
    """Where the checks run. `tiny`: models and cells that a CPU does in seconds. `scratch` is an empty folder."""

    device: torch.device
    tiny: bool
    budget: Budget
    scratch: Path

    @property
    def clock(self) -> Clock:
        return CudaClock(self.device) if self.device.type == "cuda" else HostClock()

    def synchronise(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    @cached_property
    def pair(self) -> Pair:
        if self.tiny:
            return Pair(*(self._model({**TINY, **TINY_SAME, "num_hidden_layers": n}, torch.float32) for n in (4, 1)))
        target = self._model({**LLAMA_8B, **SAME}, torch.bfloat16)
        return Pair(target, self._model({**LLAMA_1B, **SAME, "tie_word_embeddings": True}, torch.bfloat16))

    def _model(self, shape: Mapping[str, Any], dtype: torch.dtype) -> Any:
        from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

        config = LlamaConfig(**shape, bos_token_id=None, eos_token_id=None, pad_token_id=None)
        torch.manual_seed(0)
        with torch.device(self.device), _default(dtype):  # made where they stay: no copy of 16 GB
            model = LlamaForCausalLM(config).eval()
        model.generation_config = GenerationConfig()
        return model

    def engine(self, *arms: Arm, clock: Clock | None = None) -> "InMemory":
        tokenizer = self.support.build_tokenizer()
        context = self.pair.target.config.max_position_embeddings
        loaded = Loaded(tokenizer, self.pair.target, {DRAFT: self.pair.draft}, {}, (), context, {})
        return InMemory(loaded, EngineConfig(arms, "random weights", fixed_length=True), clock)

    @cached_property
    def support(self) -> Any:
        """The tiny models of the tests, with the reference decoder."""
        return import_module("tiny_models")

    def prompt(self, index: int, words: int) -> Prompt:
        """Words that repeat, one token each."""
        made: Prompt = self.support.prompt(index, words * 2 // 3)
        return made

    def jobs(self, arm: Arm, count: int, words: int, tokens: int) -> list[Job]:
        prompts = (self.prompt(index, words) for index in range(count))
        return [Job(f"{arm.id}-{i}", prompt, 0, arm, i, tokens) for i, prompt in enumerate(prompts)]


class InMemory(HuggingFaceEngine):
    """The engine over models that are loaded already; `clock` takes the place of its own."""

    def __init__(self, loaded: Loaded, config: EngineConfig, clock: Clock | None) -> None:
        self._loaded, self._config, self._evidence = loaded, config, defaultdict(Evidence)
        self._chosen = clock

    @property
    def loaded(self) -> Loaded:
        return self._loaded

    def _clock(self) -> Clock:
        return self._chosen or super()._clock()


@contextmanager
def _default(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
