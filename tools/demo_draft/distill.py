"""Teach the student the target's next-token distribution, place by place (cross-entropy on the likeliest tokens).

The softmax runs over the tokens that a batch needs and a random share of the rest, whose logits are raised by
log(rest/share): an estimate of the full sum (sampled softmax; Jean et al. 2015) at a fifth of its time.
"""

import math
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from time import perf_counter

import torch
from student import Student
from teacher import BATCH_TOKENS, Lesson, padded
from torch import Tensor

NEGATIVES = 2048
RATE, WARM_UP = 3e-3, 50


def train(student: Student, lessons: Sequence[Lesson], epochs: int, seed: int) -> None:
    rng = random.Random(seed)
    steps = [batch for _ in range(epochs) for batch in _batches(lessons, rng)]
    optimiser = torch.optim.AdamW(student.parameters(), lr=RATE, betas=(0.9, 0.95), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _rate(step, len(steps)))
    start = perf_counter()
    for number, batch in enumerate(steps, 1):
        loss = _loss(student, batch)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if number % 50 == 0 or number == len(steps):
            sys.stderr.write(f"step {number}/{len(steps)}: loss {loss:.3f}, {perf_counter() - start:.0f} s\n")


@torch.inference_mode()  # type: ignore[untyped-decorator]
def agreement(student: Student, lessons: Sequence[Lesson]) -> dict[str, float]:
    """Share of places of the answers at which student and target hold the same token for likeliest, by kind."""
    same, places = defaultdict[str, int](int), defaultdict[str, int](int)
    every = torch.arange(student.embedding.shape[0])
    for lesson in lessons:
        ids, mask = padded([lesson.ids])
        best = student(ids, mask, every).argmax(-1)[lesson.prompt - 1 : -1]
        same[lesson.kind] += int((best == lesson.likely[lesson.prompt - 1 : -1, 0]).sum())
        places[lesson.kind] += len(best)
    return {kind: same[kind] / places[kind] for kind in sorted(places)}


def _rate(step: int, steps: int) -> float:
    return min(1.0, (step + 1) / WARM_UP) * 0.5 * (1 + math.cos(math.pi * step / steps))


def _batches(lessons: Sequence[Lesson], rng: random.Random) -> Iterator[list[Lesson]]:
    """All lessons once, in batches of like length and random order."""
    order = sorted(lessons, key=lambda lesson: len(lesson.ids) + rng.random() * 32)
    batches: list[list[Lesson]] = [[]]
    for lesson in order:
        if batches[-1] and (len(batches[-1]) + 1) * len(lesson.ids) > BATCH_TOKENS:
            batches.append([])
        batches[-1].append(lesson)
    rng.shuffle(batches)
    yield from batches


def _loss(student: Student, batch: Sequence[Lesson]) -> Tensor:
    ids, mask = padded([lesson.ids for lesson in batch])
    likely = torch.cat([lesson.likely for lesson in batch]).long()
    size = student.embedding.shape[0]
    needed = torch.unique(likely)
    rest = torch.ones(size, dtype=torch.bool).index_fill(0, needed, False).nonzero()[:, 0]
    share = rest[torch.randperm(len(rest))[:NEGATIVES]]
    with torch.autocast("cpu", torch.bfloat16):
        logits = student(ids, mask, torch.cat([needed, share]))
    place = torch.zeros(size, dtype=torch.long).index_copy_(0, needed, torch.arange(len(needed)))
    raised = torch.cat([torch.zeros(len(needed)), torch.full((len(share),), math.log(len(rest) / len(share)))])
    total = (logits + raised).logsumexp(-1, keepdim=True)
    wanted = torch.cat([lesson.log_probs for lesson in batch]).float().exp()
    return (wanted * (total - logits.gather(1, place[likely]))).sum(-1).mean()
