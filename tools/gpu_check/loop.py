"""What the engine's own calibration says of the same pair at batch 1: rounds inside its loop, not forwards alone."""

from gpu_check.outcome import Finding, Table
from gpu_check.stand import DRAFT, Stand
from specprof.analysis.calibration import costs_from
from specprof.analysis.cost_report import CostReport, cost_report
from specprof.records import Arm, CostSample
from specprof.report.cells import interval

CONTEXTS, K, REPEATS = (512, 4096), 16, 6
TINY_CONTEXTS, TINY_K, TINY_REPEATS = (64,), 4, 2
SHOWN = (1, 2, 4, 8, 16)
NOTE = "Medians over repeats with their 95 % intervals, in plain steps t₁."


def check(stand: Stand) -> Finding:
    contexts, k, repeats = (TINY_CONTEXTS, TINY_K, TINY_REPEATS) if stand.tiny else (CONTEXTS, K, REPEATS)
    arm = Arm("draft", "draft_model", draft=DRAFT, k=k)
    samples = list(stand.engine(arm).calibrate([arm], contexts, repeats, [stand.prompt(0, 300)]))
    costs = costs_from(samples, arm.to_dict(), {arm.id: arm.to_dict()})
    faults = [f"a `{sample.kind}` took {sample.us} µs" for sample in samples if _impossible(sample)]
    if len(costs) < len(contexts):
        faults.append(f"costs at {len(costs)} of {len(contexts)} contexts")
    widths = [f"v({width})" for width in SHOWN if width <= k]
    return Finding(
        seen=f"{len(samples)} samples of plain steps, rounds and drafts",
        faults=tuple(faults),
        tables=(Table(("context", "t₁ ms", "α", "α₀", "φ", *widths), [_row(cost_report(one, k)) for one in costs]),),
        notes=(NOTE,),
        figures={"samples": [{"kind": s.kind, "context": s.context, "width": s.width, "us": s.us} for s in samples]},
    )


def _impossible(sample: CostSample) -> bool:
    return sample.us <= 0 and sample.kind != "setup"  # that one is a difference of two times


def _row(report: CostReport) -> tuple[str, ...]:
    parts = [report.alpha, report.alpha_round, report.phi, *(one.cost for one in report.widths if one.width in SHOWN)]
    return str(report.context), interval(report.step_ms), *(interval(part, 3) for part in parts)
