"""The words of specprof, once: what a round, a request, a prompt, a job and an arm are.

Standard library only: an engine plugin imports this module and `spool`, and nothing else of ours.
Units stand in the names: `_us` is microseconds, `_tokens` tokens.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

SCHEMA_VERSION = 1
MOST_VERIFIED = 65_536  # positions per round, all nodes of a tree
MOST_DRAFTED = 4096  # per round; more is a miscount, and positions are counted up to it
BASELINE = "baseline"

PHASES = ("warmup", "measure", "calibration")
SCHEDULES = ("constant", "confidence")
DEFAULT_THRESHOLD = 0.4  # of the confidence schedule; what transformers uses when nobody says
DEFAULT_NGRAM = 2  # longest n-gram of prompt lookup; likewise
FINISH_REASONS = ("eos", "stop", "length", "abort", "error", "skipped")
CENSOR_REASONS = ("eos", "stop", "length", "abort", "unknown")


@dataclass(frozen=True, slots=True)
class Round:
    """One verification step of the target for one request, after prefill.

    `accepted` counts draft tokens kept in the response, without the bonus or correction token.
    None means "this engine cannot observe it", never zero.
    `confidence`, `target_prob` and `draft_ids` have one entry per proposed token.
    """

    proposed: int
    drafted: int
    accepted: int
    emitted: int
    width: int | None = None
    accepted_raw: int | None = None
    step: int | None = None
    batch: int | None = None
    draft_us: int | None = None
    verify_us: int | None = None
    step_us: int | None = None
    drafter_ran: bool | None = None
    confidence: tuple[float, ...] | None = None
    target_prob: tuple[float, ...] | None = None
    draft_ids: tuple[int, ...] | None = None

    @property
    def censored(self) -> bool:
        """EOS, a stop, max_tokens or an abort cut the round inside its accepted tokens: nothing followed them."""
        return self.emitted <= self.accepted

    @property
    def regenerated(self) -> bool:
        """The target rejected a draft token and produced its own."""
        return self.accepted < self.drafted and not self.censored

    def problem(self) -> str | None:
        """The first count identity that the round breaks, in words; None for a sound round."""
        if not 0 <= self.accepted <= self.drafted:
            return f"accepted {self.accepted} is outside 0..drafted ({self.drafted})"
        if self.proposed > MOST_DRAFTED:
            return f"proposed {self.proposed} exceeds {MOST_DRAFTED}: no drafter proposes that many"
        if self.drafted > self.proposed:
            return f"drafted {self.drafted} exceeds proposed {self.proposed}"
        if not 0 <= self.emitted <= self.accepted + 1:
            return f"emitted {self.emitted} is outside 0..accepted + 1 ({self.accepted + 1})"
        if self.emitted < self.accepted:
            return f"emitted {self.emitted} is below accepted {self.accepted}, which counts only what the response kept"
        if self.width is not None and self.width < self.drafted:
            return f"width {self.width} is below drafted {self.drafted}"
        if self.accepted_raw is not None and self.accepted_raw < self.accepted:
            return f"accepted_raw {self.accepted_raw} is below accepted {self.accepted}"
        if self.accepted_raw is not None and self.accepted_raw > self.drafted:
            return f"accepted_raw {self.accepted_raw} exceeds drafted {self.drafted}"
        if self.width is not None and self.width > MOST_VERIFIED:
            return f"width {self.width} exceeds {MOST_VERIFIED}: no tree is that wide"
        for name in ("confidence", "target_prob", "draft_ids"):
            entries = getattr(self, name)
            if entries is not None and len(entries) != self.proposed:
                return f"{len(entries)} entries of {name} for {self.proposed} proposed tokens"
        return None


@dataclass(frozen=True, slots=True)
class Prompt:
    """One thing a user sends: either raw `text` or chat `messages`. `place` is the `file:line` it came from.

    `follows` is the id of the previous turn where the data holds no answer to it: the baseline's answer then stands
    between the two, the same for every arm, and `messages` are those of this turn alone.
    """

    id: str
    task: str
    text: str | None = None
    messages: tuple[Mapping[str, Any], ...] | None = None
    output_tokens: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    conversation_id: str | None = None
    turn: int | None = None
    follows: str | None = None
    place: str = ""

    @property
    def template(self) -> str:
        """`chat` when the engine must apply the chat template, `raw` when the text is sent as it is."""
        return "raw" if self.messages is None else "chat"

    @property
    def cluster(self) -> tuple[bool, str]:
        """What counts as one observation: the conversation where there is one, else the prompt by itself."""
        return (False, self.id) if self.conversation_id is None else (True, self.conversation_id)


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of decoding. `BASELINE` is plain decoding with `method` "none" and k 0.

    `k` is the most tokens drafted per round. `schedule` "confidence" stops drafting after a token whose draft
    probability is below `threshold`; "constant" never stops early. `options` are the engine's own (n-gram size, …).
    """

    id: str
    method: str
    draft: str | None = None
    k: int = 0
    schedule: str = "constant"
    threshold: float | None = None
    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None
    draft_sampling: str | None = None
    rejection_method: str | None = None
    concurrency: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without the id: the value under the arm's id in `run.json`."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "id"} | {"options": dict(self.options)}


def _ignore(round: Round) -> None:
    """The default sink of live rounds."""


@dataclass(frozen=True, slots=True)
class Job:
    """One request to run: prompt × sample × arm. An engine calls `on_round` as soon as a round is verified, so that a
    crash loses nothing; an engine that cannot see rounds live leaves it alone and returns them in the `Request`."""

    request_id: str
    prompt: Prompt
    sample: int
    arm: Arm
    seed: int
    max_tokens: int
    phase: str = "measure"
    on_round: Callable[[Round], None] = _ignore


@dataclass(frozen=True, slots=True)
class Request:
    """What one job did. `response_tokens = first_tokens + Σ emitted`, but for plain decoding, which has no rounds.

    `ttft_us` ends with the first chunk, which held `first_chunk_tokens`; `latency_us` ends with the last token.
    `excluded` counts rounds (or, for a skipped request, the request) left out, by reason.
    """

    request_id: str
    prompt_id: str
    arm: str
    task: str
    prompt_tokens: int
    response_tokens: int
    rounds: tuple[Round, ...] = ()
    sample: int = 0
    phase: str = "measure"
    first_tokens: int = 0
    complete: bool = True
    engine_request_id: str | None = None
    conversation_id: str | None = None
    turn: int | None = None
    seed: int | None = None
    arm_order: int | None = None
    block: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    cached_prompt_tokens: int | None = None
    first_chunk_tokens: int | None = None
    max_tokens: int | None = None
    finish_reason: str | None = None
    censor_reason: str | None = None
    started_at: float | None = None  # seconds since the epoch
    queue_us: int | None = None
    ttft_us: int | None = None
    latency_us: int | None = None
    excluded: Mapping[str, int] = field(default_factory=dict)
    prompt_ids: tuple[int, ...] | None = None
    output_ids: tuple[int, ...] | None = None
    prompt_text: str | None = None
    output_text: str | None = None
    accepted_hist: Mapping[int, int] | None = None
    output_sha256: bytes | None = None
    first_divergence: int | None = None
    lossy: bool | None = None
    rank: int | None = None
    writer: str | None = None
    load_1m: float | None = None

    @classmethod
    def of(cls, job: Job, **measured: Any) -> Self:
        """The request of `job`: identity from the job, everything else as measured by the engine."""
        prompt = job.prompt
        identity: dict[str, Any] = {
            "request_id": job.request_id,
            "prompt_id": prompt.id,
            "arm": job.arm.id,
            "task": prompt.task,
            "sample": job.sample,
            "seed": job.seed,
            "phase": job.phase,
            "max_tokens": job.max_tokens,
            "conversation_id": prompt.conversation_id,
            "turn": prompt.turn,
            "labels": {**prompt.labels, "template": prompt.template},
        }
        return cls(**(identity | measured))

    @classmethod
    def skipped(cls, job: Job, reason: str, prompt_tokens: int = 0) -> Self:
        """The request of a job that cannot be run (prompt longer than the context, …): counted, never averaged."""
        return cls.of(
            job, prompt_tokens=prompt_tokens, response_tokens=0, finish_reason="skipped", excluded={reason: 1}
        )

    @property
    def unbalanced(self) -> int:
        """Response tokens that the rounds do not account for; 0 where the balance holds and for plain decoding."""
        if self.arm == BASELINE and not self.rounds:
            return 0
        return self.response_tokens - self.first_tokens - sum(r.emitted for r in self.rounds)

    def problem(self) -> str | None:
        """The first identity that the request breaks, in words; None for a sound request. The balance is apart."""
        for index, step in enumerate(self.rounds):
            if fault := step.problem():
                return f"round {index}: {fault}"
            if step.censored and index != len(self.rounds) - 1:
                return f"round {index}: {step.accepted} accepted but {step.emitted} emitted: only the last can be cut"
        if self.ttft_us is not None and self.latency_us is not None and self.ttft_us > self.latency_us:
            return f"ttft_us {self.ttft_us} is above latency_us {self.latency_us}"
        if self.first_chunk_tokens is not None and self.first_chunk_tokens > self.response_tokens:
            return f"first_chunk_tokens {self.first_chunk_tokens} exceeds response_tokens {self.response_tokens}"
        return None

    def with_(self, **changes: Any) -> Self:
        """A copy with some fields replaced."""
        return replace(self, **changes)


TOTALS: Mapping[str, Callable[[Request], int]] = {
    "rounds": lambda request: len(request.rounds),
    "proposed_total": lambda request: sum(r.proposed for r in request.rounds),
    "drafted_total": lambda request: sum(r.drafted for r in request.rounds),
    "accepted_total": lambda request: sum(r.accepted for r in request.rounds),
    "emitted_total": lambda request: sum(r.emitted for r in request.rounds),
    "regenerations": lambda request: sum(r.regenerated for r in request.rounds),
}


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do and see. `unobserved` maps a field of `Round` or `Request` to the reason it is null."""

    methods: tuple[str, ...]
    max_batch: int = 1
    first_tokens: int = 0
    unobserved: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """What a run asks of an engine. `options` are engine-specific and come from `--engine-option NAME=VALUE`.

    `token_detail`: record draft ids, draft confidence and target probability per proposed token. `fixed_length`: no
    end of sequence and no stop ends a request before `max_tokens`, so that every arm decodes the same number.
    """

    arms: tuple[Arm, ...]
    model: str | None = None
    dtype: str | None = None
    device: str | None = None
    threads: int | None = None
    max_tokens: int = 128
    seed: int = 0
    save_text: bool = False
    token_detail: bool = False
    fixed_length: bool = False
    options: Mapping[str, str] = field(default_factory=dict)


COST_KINDS = ("plain", "round", "draft", "setup")


@dataclass(frozen=True, slots=True)
class CostSample:
    """One timing of a calibration, in microseconds. Samples of one `repeat`, `context` and `batch` were taken next to
    each other: their ratios are free of what the machine did between repeats.

    `kind` plain: one plain decode step, t₁ · round: one round of the speculative loop that verifies `width` positions
    beyond the first and whose drafter costs nothing · draft: the drafter of `arm` proposing `width` tokens · setup:
    what a request of `arm` costs once, beyond plain decoding, before its first round (draft prefill, set-up).
    `context` is the number of cached tokens.
    """

    kind: str
    context: int
    repeat: int
    us: float
    width: int = 0
    arm: str | None = None
    batch: int = 1


def drafter(arm: Mapping[str, Any], weights: Mapping[str, Any] | None = None) -> tuple[Any, ...]:
    """What a drafter's cost per token depends on, from `Arm.to_dict()`: arms that differ in k alone share it. A draft
    is what `weights` (of `run.json`) says under its name, wherever it lies; without a word there it is its path."""
    options = tuple(sorted((arm.get("options") or {}).items()))
    sampled = (arm.get("temperature") or 0) > 0
    name = arm.get("draft")
    known = (weights or {}).get(name) if name else None
    draft = json.dumps(known, sort_keys=True) if known and any(known.values()) else name and os.path.normpath(name)
    return (arm.get("method"), draft, arm.get("schedule"), sampled, options)


LEVELS = ("ok", "warning", "blocker")
FINDINGS: Mapping[str, str] = {
    "versions": "Python and the packages that the engine stands on",
    "device": "where the models will run",
    "dtype": "the precision of the weights",
    "model": "the files of a model",
    "embeddings": "rows of the embedding against tokens of the tokenizer",
    "chat-template": "what chat prompts are written with",
    "tokenizers": "whether draft and target mean the same by a token id",
    "special-tokens": "tokens that begin, end or pad a text, in draft and target",
    "round-trip": "whether text survives the way into tokens and back",
    "memory": "weights, and the cached tokens that still fit beside them",
    "draft-memory": "what a draft takes away from the cached tokens",
    "threads": "threads of the engine against usable cores",
    "load": "what else runs on this machine",
    "disk": "room for the run directory",
    "configuration": "what the run or the engine itself refuses",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at before a run. `what` is a name of `FINDINGS`, `level` one of `LEVELS`: a blocker
    makes the run fail or measure nonsense. `meaning` says what follows from `value`; `figures` are its numbers."""

    what: str
    level: str
    value: str
    meaning: str
    hint: str | None = None
    figures: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"figures": dict(self.figures)}


FLAGS: Mapping[str, str] = {
    "thin": "fewer than 20 clusters: the interval itself is uncertain; run more prompts",
    "tail": "p10 of the per-request speed-up is below 1: the worst decile loses; look at `below_break_even`",
    "disputed": "the rule of thumb and the cost model disagree; the verdict rests on the cost model",
    "drifted": "calibration before and after the run differ beyond their spread: the machine changed; run again",
    "unpriced": "neither costs nor timed pairs: pass `--alpha` and `--beta`, measure costs, or run with `--baseline`",
    "lossy": "the verification accepts tokens the target would not: speed-up is bought with quality",
    "length-shift": "answers are longer or shorter than the baseline's: maybe not lossless; compare outputs",
    "mismatched-tokenizer": "draft and target tokenizers differ: proposals are re-tokenised or lost; match them",
    "model-mismatch": "measured and modelled speed-up part: the costs do not describe this run; measure them here",
    "adaptive-k": "k follows the drafter's confidence: position rates are conditional on its own stop",
    "right-censored": "over a fifth of the answers were cut at max_tokens: lengths are lower bounds; raise the limit",
    "unbalanced": "emitted tokens do not add up to the response: the source miscounts; check the engine's version",
    "nonlinear": "the verification cost is far from linear in width: read the table of widths, not β",
    "imputed": "a large share of the what-if rests on imputed rounds: measure that k instead",
    "mismatched-draft": "the draft was trained for another target or context: check the checkpoint",
    "inconsistent-draft": "a sampled draft token had q ≈ 0: the draft logits do not match the drafted tokens",
    "squared-temperature": "the draft samples at T²: acceptance is not comparable with engines that draft at T",
    "self-tuning": "the confidence threshold tunes itself during the run: pin it to compare runs",
    "runaway": "one request holds a large share of all rounds: pooled means follow it; read the capped mean",
}
