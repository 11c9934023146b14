"""One job, from prompt to request."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from struct import pack
from typing import Any

import torch
from transformers import GenerationConfig

from specprof.engines.huggingface.clock import Clock
from specprof.engines.huggingface.drafting import drafting, threshold
from specprof.engines.huggingface.hook import Boundary
from specprof.engines.huggingface.load import Loaded
from specprof.engines.huggingface.methods import settings
from specprof.engines.huggingface.preflight import seam_error
from specprof.engines.huggingface.stopwatch import Stopwatch
from specprof.engines.huggingface.text import encode, render
from specprof.engines.huggingface.traps import Evidence, lossy
from specprof.errors import UsageError
from specprof.records import Arm, EngineConfig, Job, Request

PLAIN = EngineConfig(arms=())


def run(
    loaded: Loaded, job: Job, clock: Clock, config: EngineConfig = PLAIN, evidence: Evidence | None = None
) -> Request:
    """Run one job; skip it when the prompt leaves no room, and lower `max_tokens` to the room there is."""
    if job.max_tokens < 1:
        raise UsageError(f"request `{job.request_id}` asks for {job.max_tokens} new tokens", "ask for 1 or more")
    text = render(loaded.tokenizer, job.prompt)
    prompt_ids = encode(loaded.tokenizer, job.prompt, text)
    if not prompt_ids:
        return Request.skipped(job, "prompt without tokens")
    room = min(job.max_tokens, loaded.room(len(prompt_ids)))
    if room < 1:
        return Request.skipped(job, "prompt longer than the context", len(prompt_ids))
    boundary = _boundary(job, clock, room, config.token_detail, evidence)
    request = _decode(loaded, job, boundary, prompt_ids, room, () if config.fixed_length else loaded.eos_ids)
    if config.save_text:
        output = loaded.tokenizer.decode(request.output_ids, skip_special_tokens=True)
        return request.with_(prompt_text=text, output_text=output, prompt_ids=tuple(prompt_ids))
    return request.with_(output_ids=None)


def _boundary(job: Job, clock: Clock, room: int, detail: bool, evidence: Evidence | None) -> Boundary:
    arm = job.arm
    greedy = arm.temperature == 0 and not lossy(arm)
    sampled = evidence if arm.temperature > 0 else None
    return Boundary(clock, job.on_round, room, greedy, threshold(arm) or None, detail, sampled)


def _decode(
    loaded: Loaded, job: Job, boundary: Boundary, prompt_ids: list[int], max_tokens: int, eos_ids: Sequence[int]
) -> Request:
    arm = job.arm
    with _watching(boundary, loaded.target, arm):
        output_ids, times = _generate(loaded, job, prompt_ids, decoding(arm, max_tokens, eos_ids))
    rounds, finish_reason = boundary.rounds(), _finish_reason(output_ids, eos_ids, max_tokens)
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
        lossy=True if lossy(arm) else None,
        **times,
    )
    return _sound(arm, request)


def _generate(
    loaded: Loaded, job: Job, prompt_ids: list[int], settings: GenerationConfig
) -> tuple[tuple[int, ...], dict[str, Any]]:
    inputs = torch.tensor([prompt_ids], device=loaded.target.device)
    torch.manual_seed(job.seed)
    with drafting(loaded, job.arm) as drafter:
        stopwatch = Stopwatch()
        output = loaded.target.generate(
            inputs,
            attention_mask=torch.ones_like(inputs),
            generation_config=settings,
            streamer=stopwatch,
            **drafter,
        )
    before = 1 if loaded.encoder_decoder else len(prompt_ids)  # a decoder begins with its start token
    return tuple(output[0, before:].tolist()), stopwatch.read()


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
    """Everything that chooses tokens, said outright: the checkpoint's own settings are set aside on loading. Without
    `eos_ids` nothing ends a response before `max_tokens`."""
    chosen: dict[str, Any] = {"max_new_tokens": max_tokens, "do_sample": arm.temperature > 0, "use_cache": True}
    if eos_ids:
        chosen |= {"eos_token_id": list(eos_ids), "pad_token_id": eos_ids[0]}
    if arm.temperature > 0:  # transformers' own top_k is 50
        chosen |= {"temperature": arm.temperature, "top_k": arm.top_k or 0, "top_p": arm.top_p or 1.0}
    return GenerationConfig(**chosen, **settings(arm))


def _watching(boundary: Boundary, target: Any, arm: Arm) -> AbstractContextManager[None]:
    return nullcontext() if arm.method == "none" else boundary.attached(target)
