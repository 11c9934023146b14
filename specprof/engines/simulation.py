"""The model behind the simulated engines: which draft tokens match, and how long everything takes.

Each text position i of a response carries one uniform number u_i, fixed by the seed. A draft token for position i in
place j of its block (1-based) matches the target when u_i < p · decay^(j−1). A position is decided once, so matches are
independent and survival is a product. Prefill emits the first token, as in vLLM. The drafter's confidence is the chance
itself: perfectly calibrated.
"""

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from specprof.records import EngineConfig, Job, Prompt, Request, Round

VOCABULARY = 50_000


@dataclass(frozen=True)
class Truth:
    """What the simulation obeys. Costs are in units of one plain decode step, which takes `step_us`.

    A request's own match probability is its task's ± `spread`, with equal chance: requests differ, as real ones do.
    """

    match: Mapping[str, float] = field(default_factory=lambda: {"code": 0.75, "summarise": 0.85, "chat": 0.35})
    other: float = 0.6
    spread: float = 0.1
    decay: float = 1.0
    alpha: float = 0.1
    alpha_round: float = 0.05
    beta: float = 0.02
    phi: float = 0.03
    step_us: int = 20_000
    prefill_token_us: int = 100

    def hazard(self, match: float, place: int) -> float:
        """Chance that draft token `place` (1-based) matches, given that all before it did."""
        return match * self.decay ** (place - 1)

    def draft_us(self, proposed: int) -> int:
        return round(self.step_us * (self.alpha * proposed + self.alpha_round * (proposed > 0)))

    def verify_us(self, width: int) -> int:
        return round(self.step_us * (1 + self.beta * width))


def answer(truth: Truth, job: Job, config: EngineConfig) -> Request:
    """What the job does, in virtual time."""
    rng = random.Random(f"{job.seed}/{job.prompt.id}/{job.sample}")
    length = job.max_tokens if config.fixed_length else _length(job, rng)
    match = truth.match.get(job.prompt.task, truth.other) + rng.choice((-1, 1)) * truth.spread
    draws = [rng.random() for _ in range(length)]
    rounds = tuple(_rounds(truth, job, match, draws, config.token_detail)) if job.arm.method == "simulated" else ()
    prompt_tokens = len(text(job.prompt).split())
    ttft_us = prompt_tokens * truth.prefill_token_us + truth.step_us
    decode_us = sum(r.step_us or 0 for r in rounds) if rounds else (length - 1) * truth.step_us
    finish = "length" if length == job.max_tokens else "eos"
    return Request.of(
        job,
        prompt_tokens=prompt_tokens,
        response_tokens=length,
        rounds=rounds,
        first_tokens=1,
        first_chunk_tokens=1,
        finish_reason=finish,
        censor_reason=finish if rounds and rounds[-1].censored else None,
        ttft_us=ttft_us,
        latency_us=ttft_us + decode_us,
        output_sha256=hashlib.sha256(repr(draws).encode()).digest(),
        **(_texts(job, draws) if config.save_text else {}),
    )


def text(prompt: Prompt) -> str:
    """A word is a token."""
    return prompt.text or " ".join(str(message.get("content", "")) for message in prompt.messages or ())


def _length(job: Job, rng: random.Random) -> int:
    return min(job.max_tokens, job.prompt.output_tokens or rng.randint(job.max_tokens // 2 + 1, job.max_tokens))


def _rounds(truth: Truth, job: Job, match: float, draws: Sequence[float], detail: bool) -> Iterator[Round]:
    at, k = 1, job.arm.k
    hazards = [truth.hazard(match, place + 1) for place in range(k)]
    draft_us, verify_us = truth.draft_us(k), truth.verify_us(k)
    while at < len(draws):
        ahead = draws[at : at + k]
        raw = next((place for place, u in enumerate(ahead) if u >= hazards[place]), len(ahead))
        emitted = min(raw + 1, len(draws) - at)
        step = Round(
            proposed=k,
            drafted=k,
            width=k,
            accepted=min(raw, emitted),
            emitted=emitted,
            draft_us=draft_us,
            verify_us=verify_us,
            step_us=draft_us + verify_us + round(truth.step_us * truth.phi),
            drafter_ran=True,
            **(_detail(ahead, hazards) if detail else {}),
        )
        job.on_round(step)
        yield step
        at += emitted


def _detail(ahead: Sequence[float], hazards: Sequence[float]) -> dict[str, Any]:
    """The right token where it matches, its neighbour where not; behind the end of the text there is no right one."""
    ids = [_token(u) if u < hazard else _token(u) + 1 for u, hazard in zip(ahead, hazards, strict=False)]
    chances = tuple(min(max(hazard, 0.0), 1.0) for hazard in hazards)
    return {"confidence": chances, "draft_ids": (*ids, *(VOCABULARY + 1 for _ in hazards[len(ids) :]))}


def _texts(job: Job, draws: Sequence[float]) -> dict[str, Any]:
    """An answer of as many words as tokens."""
    ids = tuple(map(_token, draws))
    return {"prompt_text": text(job.prompt), "output_text": " ".join(f"w{id}" for id in ids), "output_ids": ids}


def _token(u: float) -> int:
    return int(u * VOCABULARY)
