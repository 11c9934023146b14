"""The engine: what it can do, and its life cycle. torch and transformers are imported when it is used, not before."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from specprof.engines.huggingface import fit, preflight, text
from specprof.engines.huggingface.clock import Clock, CudaClock, HostClock
from specprof.engines.huggingface.methods import METHODS
from specprof.engines.huggingface.usage import check_usage
from specprof.records import Arm, Capabilities, CostSample, EngineConfig, Finding, Job, Prompt, Request

if TYPE_CHECKING:
    from specprof.engines.huggingface.load import Loaded
    from specprof.engines.huggingface.traps import Evidence

UNOBSERVED = {
    "confidence": "recorded with `--detail tokens`, where the drafter has probabilities",
    "target_prob": "recorded with `--detail tokens`",
    "draft_ids": "recorded with `--detail tokens`",
    "step": "one request at a time: there is no shared step",
    "queue_us": "one request at a time: there is no queue",
    "cached_prompt_tokens": "there is no prefix cache",
}


class HuggingFaceEngine:
    """Batch 1, targets with attention layers; greedy or sampled; every way of drafting that transformers 5.24 has."""

    capabilities = Capabilities(methods=tuple(METHODS), max_batch=1, first_tokens=0, unobserved=UNOBSERVED)

    _config: EngineConfig
    _tokenizer: Any
    _evidence: "defaultdict[str, Evidence]"
    _loaded: "Loaded"
    _exit: ExitStack

    def check(self, config: EngineConfig) -> None:
        from specprof.engines.huggingface.traps import Evidence

        check_usage(config)
        preflight.check_extra()
        preflight.check_device(config.device)
        fit.check_models(config)
        assert config.model is not None
        self._config, self._evidence = config, defaultdict(Evidence)
        self._tokenizer = preflight.read_tokenizer(config.model, preflight.trusts(config))

    def diagnose(self, config: EngineConfig, texts: Sequence[str]) -> Iterator[Finding]:
        from specprof.engines.huggingface.diagnose import diagnose

        return diagnose(config, texts)

    def check_prompts(self, prompts: Iterable[Prompt]) -> None:
        """Raise `BadRecordError` for the first prompt that the model cannot take; call it after `check`."""
        text.check_prompts(self._tokenizer, prompts)

    def count_tokens(self, prompt: Prompt) -> int:
        return len(text.encode(self._tokenizer, prompt, text.render(self._tokenizer, prompt)))

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

        clock = self._clock()
        for job in jobs:
            yield run(self._loaded, job, clock, self._config, self._evidence[job.arm.id])

    def traps(self) -> Mapping[str, Sequence[str]]:
        from specprof.engines.huggingface.traps import known

        seen = {id for id, evidence in self._evidence.items() if evidence.inconsistent}
        return {arm.id: [*known(arm), *(["inconsistent-draft"] if arm.id in seen else [])] for arm in self._config.arms}

    def calibrate(
        self, arms: Sequence[Arm], contexts: Sequence[int], repeats: int, prompts: Sequence[Prompt]
    ) -> Iterator[CostSample]:
        from specprof.engines.huggingface.calibrate import calibrate

        return calibrate(self._loaded, arms, contexts, repeats, prompts, self._clock())

    def score(self, prompt: Prompt, output_ids: Sequence[int]) -> Any:
        from specprof.engines.huggingface.score import score

        return score(self._loaded, prompt, output_ids)

    def _clock(self) -> Clock:
        device = self._loaded.target.device
        return CudaClock(device) if device.type == "cuda" else HostClock()
