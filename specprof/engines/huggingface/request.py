"""One job, from prompt to request."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import sha256
from struct import pack
from time import perf_counter_ns, time
from typing import Any

import torch
from transformers import GenerationConfig

from specprof.engines.huggingface.clock import Clock
from specprof.engines.huggingface.hook import Boundary
from specprof.engines.huggingface.load import Loaded
from specprof.engines.huggingface.preflight import seam_error
from specprof.engines.huggingface.text import encode, render
from specprof.errors import UsageError
from specprof.records import DEFAULT_NGRAM, DEFAULT_THRESHOLD, Arm, Job, Request


class Stopwatch:
    """A streamer for both kinds of arm, so that both pay for it. The first chunk that it is given is the prompt."""

    def __init__(self) -> None:
        self._started_at, self._start = time(), perf_counter_ns()
        self._first = self._last = self._chunks = self._first_tokens = 0

    def put(self, tokens: Any) -> None:
        self._last = perf_counter_ns()
        if self._chunks == 1:
            self._first, self._first_tokens = self._last, tokens.numel()
        self._chunks += 1

    def end(self) -> None:
        """The last token has passed."""

    def read(self) -> dict[str, Any]:
        return {
            "started_at": self._started_at,
            "first_chunk_tokens": self._first_tokens,
            "ttft_us": (self._first - self._start) // 1000,
            "latency_us": (self._last - self._start) // 1000,
        }


def run(loaded: Loaded, job: Job, clock: Clock, save_text: bool = False) -> Request:
    """Run one job; skip it when the prompt leaves no room, and lower `max_tokens` to the room there is."""
    if job.max_tokens < 1:
        raise UsageError(f"request `{job.request_id}` asks for {job.max_tokens} new tokens", "ask for 1 or more")
    text = render(loaded.tokenizer, job.prompt)
    prompt_ids = encode(loaded.tokenizer, job.prompt, text)
    if not prompt_ids:
        return Request.skipped(job, "prompt without tokens")
    room = job.max_tokens if loaded.context is None else min(job.max_tokens, loaded.context - len(prompt_ids))
    if room < 1:
        return Request.skipped(job, "prompt longer than the context", len(prompt_ids))
    request = _decode(loaded, job, clock, prompt_ids, room)
    if save_text:
        output = loaded.tokenizer.decode(request.output_ids, skip_special_tokens=True)
        return request.with_(prompt_text=text, output_text=output, prompt_ids=tuple(prompt_ids))
    return request.with_(output_ids=None)


def _decode(loaded: Loaded, job: Job, clock: Clock, prompt_ids: list[int], max_tokens: int) -> Request:
    arm = job.arm
    boundary = Boundary(clock, job.on_round, max_tokens, arm.temperature == 0, _threshold(arm) or None)
    with _watching(boundary, loaded.target, arm):
        output_ids, times = _generate(loaded, job, prompt_ids, max_tokens)
    rounds, finish_reason = boundary.rounds(), _finish_reason(output_ids, loaded.eos_ids, max_tokens)
    request = Request.of(
        job,
        prompt_tokens=len(prompt_ids),
        response_tokens=len(output_ids),
        rounds=rounds,
        max_tokens=max_tokens,
        finish_reason=finish_reason,
        censor_reason=finish_reason if rounds and rounds[-1].censored else None,
        output_ids=output_ids,
        output_sha256=sha256(pack(f"<{len(output_ids)}i", *output_ids)).digest(),
        **times,
    )
    return _sound(arm, request)


def _generate(
    loaded: Loaded, job: Job, prompt_ids: list[int], max_tokens: int
) -> tuple[tuple[int, ...], dict[str, Any]]:
    inputs = torch.tensor([prompt_ids], device=loaded.target.device)
    torch.manual_seed(job.seed)
    with _drafting(loaded, job.arm) as draft:
        stopwatch = Stopwatch()
        output = loaded.target.generate(
            inputs,
            attention_mask=torch.ones_like(inputs),
            generation_config=decoding(job.arm, max_tokens, loaded.eos_ids),
            assistant_model=draft,
            streamer=stopwatch,
        )
    return tuple(output[0, len(prompt_ids) :].tolist()), stopwatch.read()


def _sound(arm: Arm, request: Request) -> Request:
    """The self-check of the hook: every token of an assisted response came through a boundary."""
    if arm.method != "none" and not request.rounds:
        raise seam_error("never called the candidate generator: no round was seen")
    if fault := request.problem():
        raise seam_error(f"passes the boundary otherwise than 5.24 does: request `{request.request_id}`, {fault}")
    if request.unbalanced:
        raise seam_error(f"emitted {request.unbalanced} tokens outside of rounds in request `{request.request_id}`")
    return request


def _finish_reason(output_ids: Sequence[int], eos_ids: Sequence[int], max_tokens: int) -> str:
    if output_ids[-1] in eos_ids:
        return "eos"
    return "length" if len(output_ids) == max_tokens else "stop"


def decoding(arm: Arm, max_tokens: int, eos_ids: Sequence[int]) -> GenerationConfig:
    """Everything that chooses tokens, said outright: the checkpoint's own settings are set aside on loading."""
    settings: dict[str, Any] = {"max_new_tokens": max_tokens, "do_sample": arm.temperature > 0, "use_cache": True}
    if eos_ids:
        settings |= {"eos_token_id": list(eos_ids), "pad_token_id": eos_ids[0]}
    if arm.temperature > 0:  # transformers' own top_k is 50
        settings |= {"temperature": arm.temperature, "top_k": arm.top_k or 0, "top_p": arm.top_p or 1.0}
    if arm.method == "prompt_lookup":
        size = arm.options.get("max_matching_ngram_size", DEFAULT_NGRAM)
        settings |= {"prompt_lookup_num_tokens": arm.k, "max_matching_ngram_size": size}
    return GenerationConfig(**settings)


def _threshold(arm: Arm) -> float:
    return (arm.threshold or DEFAULT_THRESHOLD) if arm.schedule == "confidence" else 0.0


@contextmanager
def _drafting(loaded: Loaded, arm: Arm) -> Iterator[Any]:
    """The draft model of the arm, if any, told its k: transformers reads it there and not from the call."""
    if arm.method != "draft_model":
        yield None
        return
    draft = loaded.drafts[arm.draft or ""]
    before = draft.generation_config
    draft.generation_config = GenerationConfig(
        num_assistant_tokens=arm.k,
        num_assistant_tokens_schedule="constant",
        assistant_confidence_threshold=_threshold(arm),
    )
    try:
        yield draft
    finally:
        draft.generation_config = before


def _watching(boundary: Boundary, target: Any, arm: Arm) -> AbstractContextManager[None]:
    return nullcontext() if arm.method == "none" else boundary.attached(target)
