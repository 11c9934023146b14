"""usage: python -m gpu_check [--out FOLDER] [--seconds 225] [--device cuda] [--tiny]

Checks on a GPU what cannot be checked without one, and prints a report in Markdown; `--out` keeps it as gpu.md, with
every figure in gpu.json. Exit codes: 0 nothing failed, 1 a check failed or none could be done, 4 no such device.
"""

import argparse
import json
import sys
import tempfile
import traceback
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import torch

from gpu_check.machine import describe, refusal
from gpu_check.outcome import FAIL, PASS, SKIPPED, Budget, Finding, Outcome
from gpu_check.page import render
from gpu_check.stand import Stand
from specprof.engines.huggingface.load import quiet
from specprof.errors import Exit


class Check(NamedTuple):
    """`seconds`: about what it takes. `timed`: it judges times of a GPU. `engine`: it needs the engine."""

    title: str
    module: str
    seconds: float
    timed: bool = True
    engine: bool = True


CHECKS = (
    Check("a tiny run end to end", "end_to_end", 25, timed=False),
    Check("event times against the wall clock", "events", 30),
    Check("cost of the hook", "hook", 30),
    Check("rounds in the engine's loop", "loop", 25),
    Check("forward passes alone", "forwards", 20, engine=False),
)
NO_GPU = "no CUDA device: times of the host clock, not judged"
OURS = ("", "specprof", "gpu_check", "tiny_models", "reference_decoder")
SHOWN = 3  # faults in the table of checks


def main() -> None:
    asked = _arguments()
    begun, device = monotonic(), _device(asked.device)
    with tempfile.TemporaryDirectory() as scratch:
        stand = Stand(device, asked.tiny, Budget(asked.seconds), Path(scratch))
        machine, refused, outcomes = describe(device), refusal(), list[Outcome]()
        for check in CHECKS:
            outcomes.append(outcome := _attempt(check, stand, refused))
            sys.stderr.write(f"{outcome.verdict}: {outcome.title}, {outcome.seconds:.0f} s\n")
            page = render(machine, outcomes, monotonic() - begun)
            if asked.out:  # after every check: a run that is killed keeps what it had
                _keep(asked.out, page, {"machine": machine, "checks": [asdict(outcome) for outcome in outcomes]})
    sys.stdout.write(page)
    verdicts = {outcome.verdict for outcome in outcomes}
    sys.exit(FAIL in verdicts or PASS not in verdicts)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder for gpu.md and gpu.json")
    parser.add_argument("--seconds", type=float, default=225, help="no check or cell starts that may not end by then")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true", help="models and cells that a CPU does in seconds")
    return parser.parse_args()


def _device(name: str) -> torch.device:
    device = torch.device(name)
    if device.type != "cuda":
        return device
    if (index := device.index or 0) >= torch.cuda.device_count():
        sys.stderr.write(f"error: device `{name}` is not there: {torch.cuda.device_count()} CUDA devices\n")
        sys.stderr.write("hint: `--device cpu --tiny` tries the checks themselves\n")
        sys.exit(Exit.ENVIRONMENT)
    return torch.device("cuda", index)


def _attempt(check: Check, stand: Stand, refused: str | None) -> Outcome:
    """A check that fails in any way is a finding; the others go on."""
    if check.engine and refused:
        return Outcome(check.title, SKIPPED, refused)
    if not stand.budget.fits(check.seconds):
        return Outcome(check.title, SKIPPED, f"{stand.budget.left:.0f} s were left, it takes about {check.seconds}")
    begun = monotonic()
    try:
        with quiet():
            finding = import_module(f"gpu_check.{check.module}").check(stand)
    except Exception as error:
        traceback.print_exc()
        verdict = SKIPPED if _lacks_package(error) else FAIL
        return Outcome(check.title, verdict, f"{type(error).__name__}: {error}", seconds=monotonic() - begun)
    verdict, why = _judge(check, stand, finding)
    return Outcome(check.title, verdict, why, finding, monotonic() - begun)


def _lacks_package(error: Exception) -> bool:
    """Another package is missing or too old; what is missing in our own is a fault."""
    return isinstance(error, ImportError) and (error.name or "").partition(".")[0] not in OURS


def _judge(check: Check, stand: Stand, finding: Finding) -> tuple[str, str]:
    if check.timed and stand.device.type != "cuda":
        return SKIPPED, NO_GPU
    return (FAIL, "; ".join(finding.faults[:SHOWN])) if finding.faults else (PASS, "")


def _keep(folder: Path, page: str, figures: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gpu.md").write_text(page)
    (folder / "gpu.json").write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
