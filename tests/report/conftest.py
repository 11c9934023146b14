"""A small run with two arms beside a baseline, and its report."""

import pytest

from specprof.analysis.evaluate import RunData, document
from specprof.records import Arm, Request, Round
from specprof.store.schema import rows

TIMES = {"first_chunk_tokens": 1, "ttft_us": 0}


def _requests(arms, tasks, n, step_us):
    for task in tasks:
        for i in range(n):
            place = {"prompt_id": f"{task}{i}", "task": task, "prompt_tokens": 10, "writer": "w"}
            for arm, accepted in arms.items():
                last = Round(
                    4, 4, accepted + i % 2, accepted + 1 + i % 2, draft_us=2000, verify_us=9000, step_us=step_us
                )
                tokens, us = 1 + 2 * last.emitted, 2 * step_us
                yield Request(
                    f"{arm}{task}{i}", arm=arm, response_tokens=tokens, rounds=(last,) * 2, first_tokens=1,
                    latency_us=us, **place, **TIMES,
                )  # fmt: skip
            yield Request(f"b{task}{i}", arm="baseline", response_tokens=9, latency_us=8 * 10_000 + i, **place, **TIMES)


@pytest.fixture(scope="session")
def report():
    """`arms` by accepted tokens per round; a plain step takes 10 ms, a round `step_us`."""

    def build(arms, *, tasks=("code", "chat"), n=24, step_us=12_000, run_id="run", calibration=(), **settings):
        known = {name: Arm(name, "draft_model", "tiny", k=4).to_dict() for name in arms}
        known["baseline"] = Arm("baseline", "none").to_dict()
        info = {"run_id": run_id, "engine": "simulated", "arms": known, "calibration": list(calibration)}
        return document([RunData(info, "complete", rows(_requests(arms, tasks, n, step_us)))], **settings)

    return build
