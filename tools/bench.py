"""What specprof costs, as ratios measured within one run: machines differ and are noisy, ratios less so.

usage: python tools/bench.py CACHE     (CACHE holds the demo model; it is converted there when missing)
"""

import math
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from demo_model import model_folder

from specprof.analysis.evaluate import RunData, document
from specprof.analysis.frame import COLUMNS
from specprof.analysis.intervals import ratio
from specprof.capture.plan import Planned, plan
from specprof.capture.recorder import Recorder
from specprof.prompts import read_prompts
from specprof.records import Arm, EngineConfig, Request, Round
from specprof.report.cells import interval
from specprof.spool import SpoolWriter, fields_of
from specprof.store.read import read_run
from specprof.store.run import create
from specprof.store.seal import write_shard

PROMPTS, TOKENS, K, WARMUP = 24, 32, 4, 2
REQUESTS, ROUNDS = 20_000, 50
REPEATS = 7


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def timed(work: Callable[..., object], *arguments: object) -> float:
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


def hook_cost(cache: Path, scratch: Path) -> None:
    """Prompt lookup on the demo model: hook, streamer and spool against plain `generate`, in turn and random order."""
    import torch

    from specprof.engines.huggingface.clock import HostClock
    from specprof.engines.huggingface.load import load, quiet
    from specprof.engines.huggingface.request import decoding, run
    from specprof.engines.huggingface.text import encode, render

    torch.set_num_threads(1)
    arm = Arm(id="lookup", method="prompt_lookup", k=K)
    sources = [Path("sample_prompts") / f"{task}.jsonl" for task in ("summarise", "code")]
    prompts = read_prompts(sources, limit=PROMPTS // 2).prompts
    with quiet(), SpoolWriter(scratch / "hook", "bench") as spool:
        loaded = load(EngineConfig(arms=(arm,), model=str(model_folder(cache)), dtype="float32"))
        recorder = Recorder(spool, "bench")

        def hooked(item: Planned) -> None:
            for job in recorder.jobs([(item, "measure")]):
                rounds.append(len(recorder.end(run(loaded, job, HostClock())).rounds))

        def bare(item: Planned) -> None:
            ids = torch.tensor([encode(loaded.tokenizer, item.prompt, render(loaded.tokenizer, item.prompt))])
            torch.manual_seed(item.seed)
            settings = decoding(arm, TOKENS, loaded.eos_ids)
            loaded.target.generate(ids, attention_mask=torch.ones_like(ids), generation_config=settings)

        rounds: list[int] = []
        times: list[tuple[float, float]] = []
        rng = random.Random(0)
        jobs = plan(prompts, [arm], max_tokens=TOKENS)
        for item in [*jobs[:WARMUP], *jobs]:
            both = {work: timed(work, item) for work in rng.sample([hooked, bare], 2)}
            times.append((both[hooked], both[bare]))
    with_hook, without = np.array(times[WARMUP:]).T
    found = ratio(with_hook, without, np.arange(len(without)), empty="no runs")
    extra_us = (with_hook.sum() - without.sum()) / sum(rounds[WARMUP:]) * 1e6
    say(f"hook: time with / without {interval(found, 3)} over {len(without)} prompts; {extra_us:+.0f} µs per round")


def synthetic(rng: random.Random) -> Iterator[Request]:
    """Requests with the noise of real times, which is what shards mostly store."""
    for number in range(REQUESTS):
        rounds = tuple(
            Round(
                proposed=K,
                drafted=K,
                width=K,
                accepted=(accepted := min(int(rng.expovariate(0.6)), K)),
                emitted=accepted + 1,
                draft_us=int(math.exp(rng.gauss(8.5, 0.1))),
                verify_us=int(math.exp(rng.gauss(10.0, 0.1))),
                step_us=int(math.exp(rng.gauss(10.3, 0.1))),
            )
            for _ in range(ROUNDS)
        )
        yield Request(
            f"r{number}", f"p{number}", "arm", f"task{number % 6}", 100 + number % 900, sum(r.emitted for r in rounds),
            rounds, first_chunk_tokens=1, ttft_us=90_000, latency_us=4_000_000 + number, finish_reason="eos",
        )  # fmt: skip


def storage_and_report(scratch: Path) -> None:
    """Bytes per round in shards and spool; requests per second of a whole report against a bare scan."""
    requests = list(synthetic(random.Random(1)))
    rounds = REQUESTS * ROUNDS
    with create(scratch / "run", {"run_id": "bench", "arms": {"arm": {"method": "x", "k": K}}}) as run:
        shard = write_shard(run.path, "bench", requests)
    with SpoolWriter(scratch / "spool", "bench") as spool:
        for key, request in enumerate(requests[: REQUESTS // 20]):
            spool.begin(key, fields_of(request))
            for step in request.rounds:
                spool.round(key, step)
            spool.end(key, fields_of(request))
    spooled = sum(path.stat().st_size for path in (scratch / "spool").iterdir())
    say(f"shards: {shard.stat().st_size / rounds:.2f} bytes per round; spool: {spooled / (rounds / 20):.0f}")

    def report() -> None:
        read = read_run(scratch / "run", columns=COLUMNS)
        document([RunData(read.info, read.state, read.table)])

    def scan() -> None:
        pq.read_table(shard, columns=list(COLUMNS))

    pairs = [(timed(report), timed(scan)) for _ in range(REPEATS)][1:]
    reports, scans = np.array(pairs).T
    say(
        f"report: {REQUESTS / np.median(reports):,.0f} requests/s ({rounds / np.median(reports):,.0f} rounds/s); "
        f"bare scan of the same columns: {REQUESTS / np.median(scans):,.0f} requests/s; "
        f"report / scan: {np.median(reports / scans):.1f}× the time"
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        storage_and_report(Path(scratch))
        hook_cost(Path(sys.argv[1]), Path(scratch))


if __name__ == "__main__":
    main()
