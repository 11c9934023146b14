"""An independent reference of speculative decoding: no `generate`, no cache, one plain forward pass over the whole
sequence for every question asked of a model."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import torch

from specprof.records import Arm, Job

EOS, START = 1, 0
WAITS = ("mtp", "dflash", "single_position")  # read states of the target, which there are after the first round


@dataclass
class Reference:
    """What one request must look like: (proposed, accepted, emitted) per round, and the output."""

    rounds: list[tuple[int, int, int]] = field(default_factory=list)
    output: list[int] = field(default_factory=list)


@dataclass
class Case:
    """What a rule of drafting may look at. `encoder` is the prompt of an encoder-decoder model, `cached` what its draft
    was fed; `rejected` the token that the last verification refused; `tokenizers` those of target and draft."""

    target: Any
    draft: Any
    arm: Arm
    encoder: list[int] | None
    tokenizers: tuple[Any, Any]
    ends: Sequence[int]
    rejected: list[int] = field(default_factory=list)
    cached: list[int] = field(default_factory=list)


def row(model: Any, ids: list[int]) -> Any:
    return torch.tensor([ids], device=model.device)


def forward(model: Any, ids: list[int], encoder: list[int] | None = None) -> Any:
    inputs = {"input_ids": row(model, ids)}
    if encoder is not None:
        inputs = {"input_ids": row(model, encoder), "decoder_input_ids": row(model, ids)}
    with torch.no_grad():
        return model(**inputs, use_cache=False).logits[0].float()


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


def choose(logits: Any, arm: Arm) -> tuple[list[int], Any]:
    """One token for each row of `logits`, in their order, and the distributions that they are from."""
    q = (warp(logits, arm) if arm.temperature else logits).softmax(-1)
    return [int(draw(one[None])[0]) if arm.temperature else int(one.argmax()) for one in q], q


def model_draft(case: Case, ids: list[int], most: int, draft: Any = None) -> tuple[list[int], Any]:
    """Token after token. transformers 5.24 warps the logits of a sampling drafter twice, T = 0.8 drafts at 0.64."""
    arm, tokens, rows = case.arm, [], []
    threshold = (arm.threshold or 0.4) if arm.schedule == "confidence" else 0.0
    while len(tokens) < most:
        logits = forward(draft or case.draft, ids + tokens, case.encoder)[-1:]
        (token,), q = choose(warp(logits, arm) if arm.temperature else logits, arm)
        tokens.append(token)
        rows.append(q[0])
        if token in case.ends or q[0, token] < threshold:
            break
    return tokens, torch.stack(rows) if rows else None


def seq2seq_draft(case: Case, ids: list[int], most: int) -> tuple[list[int], Any]:
    """transformers 5.24 feeds such a draft the whole text each round, after what its cache still holds of it."""
    fed = case.cached[: max(len(ids) - 2, 0)] + ids
    tokens, q = model_draft(case, fed, most)
    case.cached = fed + tokens[:-1]
    return tokens, q


def early_draft(case: Case, ids: list[int], most: int) -> tuple[list[int], Any]:
    """The first layers of the target, its last norm and its head."""
    shallow = deepcopy(case.target)
    shallow.model.layers = shallow.model.layers[: case.arm.options["early_exit"]]
    shallow.config.num_hidden_layers = len(shallow.model.layers)
    return model_draft(case, ids, most, shallow)


def universal_draft(case: Case, ids: list[int], room: int) -> tuple[list[int], Any]:
    """The whole text in the words of the draft, its k tokens as text, that text in the words of the target."""
    ours, theirs = case.tokenizers
    known = theirs(ours.decode(ids, skip_special_tokens=True)).input_ids
    tokens, _ = model_draft(case, known, case.arm.k)
    return ours(theirs.decode(tokens, skip_special_tokens=True)).input_ids[:room], None


def lookup_draft(case: Case, ids: list[int], most: int) -> tuple[list[int], Any]:
    """What follows the first earlier occurrence of the last words; longer runs of words first; never an end."""
    for size in range(min(case.arm.options.get("max_matching_ngram_size", 2), len(ids) - 1), 0, -1):
        for start in range(len(ids) - size):
            if ids[start : start + size] == ids[-size:]:
                found = ids[start + size : start + size + most]
                end = next((place for place, token in enumerate(found) if token in case.ends), len(found))
                return found[:end], None
    return [], None


def mtp_draft(case: Case, ids: list[int]) -> tuple[list[int], Any]:
    """DeepSeek-V3's heads (2024, section 2.2): at each place, layer i joins the state below with token i + 1 after."""
    target, length, tokens, rows = case.target, len(ids) - 1, [], []
    mask = torch.full((1, 1, length, length), -torch.inf).triu(1)
    with torch.no_grad():
        hidden = target(row(target, ids[:-1]), output_hidden_states=True, use_cache=False).hidden_states[-1]
        for depth, layer in enumerate(case.draft.layers, 1):
            embeddings = target.get_input_embeddings()(row(target, (ids + tokens)[depth:]))
            places = torch.arange(depth, depth + length)[None]
            rotary = target.model.rotary_emb(embeddings, places)
            hidden = layer(
                embeddings, hidden, position_embeddings=rotary, attention_mask=mask, position_ids=places, cache=None
            )
            token, q = choose(target.lm_head(hidden[0, -1:]).float(), case.arm)
            tokens, rows = tokens + token, [*rows, q[0]]
    return tokens, torch.stack(rows)


def dflash_draft(case: Case, ids: list[int]) -> tuple[list[int], Any]:
    """One pass over the last token and a block of masks, which see each other and states of the target."""
    target, settings = case.target, case.draft.config
    with torch.no_grad():
        states = target(row(target, ids[:-1]), output_hidden_states=True, use_cache=False).hidden_states
        block = row(target, [ids[-1], *[settings.mask_token_id] * (settings.block_size - 1)])
        hidden = case.draft(
            noise_embeds=target.get_input_embeddings()(block),
            context_hidden_states=torch.cat([states[layer + 1] for layer in settings.target_layer_ids], dim=-1),
            position_ids=torch.arange(len(ids) - 1 + settings.block_size)[None],
        ).last_hidden_state
        return choose(target.lm_head(hidden[0, 1:]).float(), case.arm)


def single_draft(case: Case, ids: list[int], most: int) -> tuple[list[int], Any]:
    """Token after token from one place, over the target's keys and values; in transformers 5.24 those of a rejected
    token are still among them. Always the likeliest token, which is then verified as if it had been sampled."""
    target, rows, tokens, place = case.target, [], [ids[-1]], len(ids) - 1
    with torch.no_grad():
        seen = row(target, ids[:-1] + case.rejected)
        outputs = target(seen, output_hidden_states=True, return_shared_kv_states=True, use_cache=False)
        state = outputs.hidden_states[-1][:, place - 1 : place]
        while len(rows) < most:
            embedding = target.get_input_embeddings()(row(target, tokens[-1:]))
            step = case.draft(
                inputs_embeds=torch.cat([embedding, state], dim=-1),
                position_ids=torch.tensor([[place]]),
                shared_kv_states=outputs.shared_kv_states,
            )
            state, rows = step.last_hidden_state, [*rows, step.logits[0, 0].float()]
            tokens.append(int(rows[-1].argmax()))
    return tokens[1:], torch.stack(rows).softmax(-1)


def propose(case: Case, ids: list[int], room: int, first: bool) -> tuple[list[int], Any]:
    """The draft of one round, with `room` more tokens allowed; most drafters leave the last one to the target."""
    method, most = case.arm.method, min(case.arm.k, room - 1)
    if method == "universal":
        return universal_draft(case, ids, room)
    if method == "mtp" and not first:
        return mtp_draft(case, ids)
    if most == 0 or (first and method in WAITS):
        return [], None
    if method == "prompt_lookup":
        return lookup_draft(case, ids, case.arm.k)
    if method == "dflash":
        return dflash_draft(case, ids)
    if case.encoder is not None:
        return seq2seq_draft(case, ids, most)
    return {"draft_model": model_draft, "early_exit": early_draft, "single_position": single_draft}[method](
        case, ids, most
    )


def verify(logits: Any, tokens: list[int], q: Any, arm: Arm) -> list[int]:
    """The tokens of the target: greedy and lookup by comparison, else Leviathan et al. 2023, algorithm 1; under an
    ensemble weight w the target is w·p + (1 - w)·q, and what is drawn after a rejection is as without."""
    weight = arm.options.get("assistant_ensemble_weight", 1.0)
    if not arm.temperature or q is None:
        p = (warp(logits, arm) if arm.temperature else logits).softmax(-1)
        if q is not None:
            p[: len(tokens)] = weight * p[: len(tokens)] + (1 - weight) * q
        choices = (draw(p) if arm.temperature else p.argmax(-1)).tolist()
        matches = next((i for i, token in enumerate(tokens) if token != choices[i]), len(tokens))
        return choices[: matches + 1]
    p = warp(logits, arm).softmax(-1)
    lottery = torch.rand(len(tokens), device=p.device)
    kept = 0
    while kept < len(tokens):
        ratio = p[kept, tokens[kept]] / q[kept, tokens[kept]]
        if lottery[kept] > 1 - weight + weight * ratio:
            break
        kept += 1
    rest = (p[kept] - q[kept]).clamp(min=0) if kept < len(tokens) else p[kept]
    return [*tokens[:kept], int(draw((rest / rest.sum())[None])[0])]


def decode(
    target: Any, draft: Any, job: Job, ids: list[int], tokenizers: tuple[Any, Any], ends: Sequence[int] = (EOS,)
) -> Reference:
    """Speculative decoding of one job."""
    encoder, before = (ids, [START]) if target.config.is_encoder_decoder else (None, ids)
    case, result = Case(target, draft, job.arm, encoder, tokenizers, ends), Reference()
    torch.manual_seed(job.seed)
    while len(result.output) < job.max_tokens and not set(ends) & set(result.output):
        room, so_far = job.max_tokens - len(result.output), before + result.output
        tokens, q = propose(case, so_far, room, not result.rounds)
        logits = forward(target, so_far + tokens, encoder)[-len(tokens) - 1 :]
        new = verify(logits, tokens, q, job.arm)[:room]
        end = next((place for place, token in enumerate(new) if token in ends), len(new))
        new = new[: end + 1]
        accepted = next(
            (i for i, (a, b) in enumerate(zip(tokens, new, strict=False)) if a != b), min(len(tokens), len(new))
        )
        case.rejected = tokens[accepted : accepted + 1]
        result.rounds.append((len(tokens), accepted, len(new)))
        result.output += new
    return result
