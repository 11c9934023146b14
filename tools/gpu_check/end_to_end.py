"""A tiny real run: engine, run directory, report; every answer's rounds are those of the reference decoder."""

from collections.abc import Iterator, Sequence
from typing import Any

from gpu_check.outcome import Finding
from gpu_check.stand import Stand
from specprof.analysis.evaluate import RunData, document
from specprof.capture.plan import Planned, plan
from specprof.capture.session import Spec, execute
from specprof.engines import create
from specprof.records import Arm, Job
from specprof.report.to_markdown import render
from specprof.store.read import Run, read_run

PROMPTS, TOKENS = 6, 32
SAMPLED = {"temperature": 0.8, "top_k": 20}
ENDS = (1,)


def check(stand: Stand) -> Finding:
    bench = stand.support.Bench(stand.scratch / "models", str(stand.device))
    arms = _arms(bench)
    jobs = plan([stand.support.prompt(index) for index in range(PROMPTS)], arms, max_tokens=TOKENS)
    spec = Spec("huggingface", bench.config(*arms, save_text=True), jobs, {"sha256": "gpu-check"}, calibrate=True)
    execute(create("huggingface"), spec, stand.scratch / "run")
    run = read_run(stand.scratch / "run")
    rows = {(row["prompt_id"], row["arm"]): row for row in run.table.to_pylist() if row["phase"] == "measure"}
    compared = [job for job in jobs if job.arm.method != "none"]
    differing = [fault for job in compared if (fault := _differs(bench, job, rows.get((job.prompt.id, job.arm.id))))]
    accepted = sum(sum(row["accepted"] or ()) for row in rows.values())
    return Finding(
        seen=f"{len(compared) - len(differing)} of {len(compared)} answers and their rounds equal the reference's, "
        f"{accepted} draft tokens accepted",
        faults=(*differing, *_faults(run, arms), *(() if accepted else ("no draft token was accepted",))),
        figures={"answers": len(compared), "differing": len(differing), "accepted": accepted},
    )


def _faults(run: Run, arms: Sequence[Arm]) -> Iterator[str]:
    report = document([RunData(run.info, run.state, run.table)])
    named = {arm.arm for arm in report.arms}
    yield from (f"the report lacks arm `{arm.id}`" for arm in arms if arm.method != "none" and arm.id not in named)
    yield from (f"costs were not measured: {one['error']}" for one in run.info["calibration"] if "error" in one)
    if "speed-up" not in render(report):
        yield "the report has no table"


def _arms(bench: Any) -> tuple[Arm, ...]:
    methods = ("draft_model", "prompt_lookup")
    greedy = [bench.arm(method, id=method) for method in methods]
    sampled = [bench.arm(method, id=f"{method}-sampled", **SAMPLED) for method in methods]
    return (*greedy, *sampled, bench.baseline())


def _differs(bench: Any, job: Planned, row: dict[str, Any] | None) -> str | None:
    if row is None:
        return f"the run directory lacks `{job.prompt.id}` of `{job.arm.id}`"
    asked = Job("reference", job.prompt, job.sample, job.arm, job.seed, job.max_tokens)
    expected = bench.reference(asked, bench.draft, ENDS)
    seen = list(zip(row["proposed"], row["accepted"], row["emitted"], strict=True))
    if seen == expected.rounds and row["output_ids"] == expected.output:
        return None
    return f"`{job.prompt.id}` of `{job.arm.id}` differs from the reference"
