"""What the engine costs beside bare assisted `generate`: hook, streamer and bookkeeping, in turn and random order."""

import random
from collections.abc import Callable
from time import perf_counter

import numpy as np
import torch

from gpu_check.outcome import Finding
from gpu_check.stand import DRAFT, InMemory, Stand
from specprof.analysis.intervals import ratio
from specprof.engines.huggingface.drafting import drafting
from specprof.engines.huggingface.request import decoding
from specprof.engines.huggingface.text import encode, render
from specprof.records import Arm, Job
from specprof.report.cells import interval

DEAREST = 1.03
ARM = Arm("draft", "draft_model", draft=DRAFT, k=4)
PAIRS, WARMUP, WORDS, TOKENS = 10, 2, 240, 12


def check(stand: Stand) -> Finding:
    engine = stand.engine(ARM)
    bare = _bare(stand, engine)
    rounds: list[int] = []

    def hooked(job: Job) -> None:
        rounds.append(sum(len(request.rounds) for request in engine.generate([job])))

    times: list[tuple[float, float]] = []
    rng = random.Random(0)
    for job in stand.jobs(ARM, WARMUP + PAIRS, WORDS, TOKENS):
        both = {work: _timed(stand, work, job) for work in rng.sample([hooked, bare], 2)}
        times.append((both[hooked], both[bare]))
    with_hook, without = np.array(times[WARMUP:]).T
    found = ratio(with_hook, without, np.arange(PAIRS), empty="no runs")
    extra_us = (with_hook.sum() - without.sum()) / sum(rounds[WARMUP:]) * 1e6
    dear = found.low is not None and found.low > DEAREST
    return Finding(
        seen=f"time with / without {interval(found, 3)} over {PAIRS} pairs; {extra_us:+.0f} µs per round",
        faults=(f"the engine costs more than {DEAREST - 1:.0%}: {interval(found, 3)}",) if dear else (),
        figures={"with_s": with_hook.tolist(), "without_s": without.tolist(), "us_per_round": extra_us},
    )


def _bare(stand: Stand, engine: InMemory) -> Callable[[Job], None]:
    loaded = engine.loaded

    def bare(job: Job) -> None:
        ids = encode(loaded.tokenizer, job.prompt, render(loaded.tokenizer, job.prompt))
        inputs = torch.tensor([ids], device=stand.device)
        torch.manual_seed(job.seed)
        settings = decoding(ARM, job.max_tokens, ())
        with drafting(loaded, ARM) as drafter:
            mask = torch.ones_like(inputs)
            loaded.target.generate(inputs, attention_mask=mask, generation_config=settings, **drafter)

    return bare


def _timed(stand: Stand, work: Callable[[Job], None], job: Job) -> float:
    stand.synchronise()
    start = perf_counter()
    work(job)
    stand.synchronise()
    return perf_counter() - start
