"""An independent reference of speculative decoding: no `generate`, no cache, one plain forward pass over the whole
sequence for every question asked of a model."""

from dataclasses import dataclass, field
from typing import Any

import torch

from specprof.records import Arm, Job

EOS = 1


@dataclass
class Reference:
    """What one request must look like: (proposed, accepted, emitted) per round, and the output."""

    rounds: list[tuple[int, int, int]] = field(default_factory=list)
    output: list[int] = field(default_factory=list)


def forward(model: Any, ids: list[int]) -> Any:
    with torch.no_grad():
        return model(torch.tensor([ids], device=model.device), use_cache=False).logits[0].float()


def warp(logits: Any, arm: Arm) -> Any:
    """Temperature, then top-k, then top-p (the fewest tokens that hold that much probability), row by row."""
    logits = logits / arm.temperature
    if arm.top_k:
        kth = logits.sort(dim=-1, descending=True).values[..., arm.top_k - 1 : arm.top_k]
        logits = logits.masked_fill(logits < kth, -torch.inf)
    if arm.top_p and arm.top_p < 1:
        ordered, order = logits.sort(dim=-1, descending=True)
        mass_before = ordered.softmax(-1).cumsum(-1) - ordered.softmax(-1)
        cut = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, mass_before >= arm.top_p)
        logits = logits.masked_fill(cut, -torch.inf)
    return logits


def draw(probabilities: Any) -> Any:
    return torch.multinomial(probabilities, num_samples=1)[:, 0]


def model_draft(draft: Any, ids: list[int], most: int, arm: Arm) -> tuple[list[int], Any]:
    """Token after token. transformers 5.24 warps the logits of a sampling drafter twice, T = 0.8 drafts at 0.64."""
    tokens, rows = [], []
    threshold = (arm.threshold or 0.4) if arm.schedule == "confidence" else 0.0
    while len(tokens) < most:
        logits = forward(draft, ids + tokens)[-1:]
        logits = warp(warp(logits, arm), arm) if arm.temperature else logits
        q = logits.softmax(-1)
        token = int(draw(q)[0] if arm.temperature else logits.argmax())
        tokens.append(token)
        rows.append(q[0])
        if token == EOS or q[0, token] < threshold:
            break
    return tokens, torch.stack(rows) if rows else None


def lookup_draft(ids: list[int], most: int, largest: int) -> list[int]:
    """What follows the first earlier occurrence of the last words; longer runs of words first; never an end."""
    for size in range(min(largest, len(ids) - 1), 0, -1):
        for start in range(len(ids) - size):
            if ids[start : start + size] == ids[-size:]:
                found = ids[start + size : start + size + most]
                return found[: found.index(EOS)] if EOS in found else found
    return []


def verify(logits: Any, tokens: list[int], q: Any, arm: Arm) -> list[int]:
    """The tokens of the target: greedy and lookup by comparison, else Leviathan et al. 2023, algorithm 1."""
    if not arm.temperature or q is None:
        choices = (draw(warp(logits, arm).softmax(-1)) if arm.temperature else logits.argmax(-1)).tolist()
        matches = next((i for i, token in enumerate(tokens) if token != choices[i]), len(tokens))
        return choices[: matches + 1]
    p = warp(logits, arm).softmax(-1)
    lottery = torch.rand(len(tokens), device=p.device)
    kept = 0
    while kept < len(tokens) and lottery[kept] <= p[kept, tokens[kept]] / q[kept, tokens[kept]]:
        kept += 1
    rest = (p[kept] - q[kept]).clamp(min=0) if kept < len(tokens) else p[kept]
    return [*tokens[:kept], int(draw((rest / rest.sum())[None])[0])]


def decode(target: Any, draft: Any, job: Job, ids: list[int]) -> Reference:
    """Speculative decoding of one job, the last token always left to the target."""
    arm, result = job.arm, Reference()
    torch.manual_seed(job.seed)
    while len(result.output) < job.max_tokens and EOS not in result.output:
        room, so_far, q = job.max_tokens - len(result.output), ids + result.output, None
        if arm.method == "draft_model":
            tokens, q = model_draft(draft, so_far, min(arm.k, room - 1), arm)
        else:
            tokens = lookup_draft(so_far, arm.k, arm.options.get("max_matching_ngram_size", 2)) if room > 1 else []
        new = verify(forward(target, so_far + tokens)[-len(tokens) - 1 :], tokens, q, arm)[:room]
        new = new[: new.index(EOS) + 1] if EOS in new else new
        accepted = next(
            (i for i, (a, b) in enumerate(zip(tokens, new, strict=False)) if a != b), min(len(tokens), len(new))
        )
        result.rounds.append((len(tokens), accepted, len(new)))
        result.output += new
    return result
