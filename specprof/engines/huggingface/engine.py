"""The engine: what it can do, and its life cycle. torch and transformers are imported when it is used, not before."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from specprof.engines.huggingface import preflight, text
from specprof.engines.huggingface.clock import Clock, CudaClock, HostClock
from specprof.engines.huggingface.usage import METHODS, check_usage
from specprof.records import Capabilities, EngineConfig, Job, Prompt, Request

if TYPE_CHECKING:
    from specprof.engines.huggingface.load import Loaded

UNOBSERVED = {
    "confidence": "token detail is not recorded",
    "target_prob": "token detail is not recorded",
    "draft_ids": "token detail is not recorded",
    "step": "one request at a time: there is no shared step",
    "queue_us": "one request at a time: there is no queue",
    "cached_prompt_tokens": "there is no prefix cache",
}


class HuggingFaceEngine:
    """Batch 1, decoder-only targets with attention layers; greedy or sampled; draft model or prompt lookup."""

    capabilities = Capabilities(methods=METHODS, max_batch=1, first_tokens=0, unobserved=UNOBSERVED)

    _config: EngineConfig
    _loaded: "Loaded"
    _exit: ExitStack

    def check(self, config: EngineConfig) -> None:
        check_usage(config)
        preflight.check_extra()
        preflight.check_device(config.device)
        preflight.check_models(config)
        self._config = config

    def check_prompts(self, prompts: Iterable[Prompt]) -> None:
        """Raise `BadRecordError` for the first prompt that the model cannot take; reads the tokenizer, no weights.

        Call it between `check` and `with`.
        """
        assert self._config.model is not None
        tokenizer = preflight.read_tokenizer(self._config.model, preflight.trusts(self._config))
        text.check_prompts(tokenizer, prompts)

    def __enter__(self) -> Self:
        from specprof.engines.huggingface.load import load, quiet, threads

        with ExitStack() as stack:
            stack.enter_context(quiet())
            stack.enter_context(threads(self._config.threads))
            self._loaded = load(self._config)
            self._exit = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del self._loaded
        self._exit.close()

    def describe(self) -> dict[str, Any]:
        from specprof.engines.huggingface.describe import describe

        return describe(self._loaded, self._config)

    def generate(self, jobs: Iterable[Job]) -> Iterator[Request]:
        from specprof.engines.huggingface.request import run

        device = self._loaded.target.device
        clock: Clock = CudaClock(device) if device.type == "cuda" else HostClock()
        for job in jobs:
            yield run(self._loaded, job, clock, self._config.save_text)
