"""Predicted against measured: S = Σe/ΣC with measured costs, and the decode speed-up of the same run.

usage: python tools/bench_prediction.py CACHE [--quick] [--draft FOLDER] [--out RUN]

One interleaved run of the demo pair: k = 1 to 8 and plain decoding, on texts of three lengths, costs measured before
and after. Each cell's error is predicted / measured − 1; its interval leaves out one prompt at a time (jackknife) and
takes the measured costs as they are.
"""

import argparse
import math
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
from demo_model import draft_folder, model_folder
from scipy import stats

from specprof.analysis.evaluate import RunData, document
from specprof.analysis.frame import COLUMNS
from specprof.capture.plan import plan
from specprof.capture.session import Spec, execute
from specprof.engines import create
from specprof.prompts import read_prompts
from specprof.records import BASELINE, Arm, EngineConfig, Prompt
from specprof.report.cells import interval
from specprof.store.read import read_run

WORDS = {"short": 40, "middle": 160, "long": 400}
KS, PROMPTS, TOKENS = range(1, 9), 6, 24
QUICK_KS, QUICK_PROMPTS = (1, 4), 2
CLOSE = 0.05

Cell = tuple[str, str]  # task, arm


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def prompts(count: int) -> Iterator[Prompt]:
    """`count` texts of each length, cut one after the other from the sample prompts."""
    words = [
        word
        for prompt in read_prompts([Path("sample_prompts/summarise.jsonl"), Path("sample_prompts/chat.jsonl")]).prompts
        for message in prompt.messages or ()
        for word in str(message["content"]).split()
    ]
    for task, length in WORDS.items():
        for index in range(count):
            start = (index * len(words)) // count
            text = " ".join((words + words)[start : start + length])
            yield Prompt(id=f"{task}-{index}", task=task, text=text)


def measure(cache: Path, draft: Path, ks: range | tuple[int, ...], count: int, out: Path) -> RunData:
    arms = (*(Arm(f"k{k}", "draft_model", draft=str(draft), k=k) for k in ks), Arm(BASELINE, "none"))
    config = EngineConfig(
        arms, str(model_folder(cache)), dtype="float32", threads=1, max_tokens=TOKENS, fixed_length=True
    )
    jobs = plan(list(prompts(count)), arms, max_tokens=TOKENS, fixed_length=True)
    execute(create("huggingface"), Spec("huggingface", config, jobs, {"sha256": "bench"}, calibrate=True), out)
    run = read_run(out, columns=[*COLUMNS, "load_1m"])
    return RunData(run.info, run.state, run.table)


def estimates(run: RunData) -> dict[Cell, tuple[float, float]]:
    """(predicted, measured) of every cell, by the ordinary report."""
    return {
        (str(row.task), arm.arm): (row.cost.speedup.value, row.measured.decode.value)
        for arm in document([run]).arms
        for row in arm.tasks
        if row.measured and row.cost.speedup.value and row.measured.decode.value
    }


def errors(run: RunData) -> Mapping[Cell, float]:
    return {cell: math.log(predicted / measured) for cell, (predicted, measured) in estimates(run).items()}


def jackknife(run: RunData) -> dict[Cell, float]:
    """Half the width of the 95 % interval of each cell's error."""
    spread: dict[Cell, list[float]] = {}
    for id in sorted(set(run.table["prompt_id"].to_pylist())):
        without = RunData(run.info, run.state, run.table.filter(pc.not_equal(run.table["prompt_id"], id)))
        for (task, arm), error in errors(without).items():
            if id.startswith(f"{task}-"):
                spread.setdefault((task, arm), []).append(error)
    return {cell: _half_width(np.array(values)) for cell, values in spread.items()}


def _half_width(values: np.ndarray) -> float:
    """`values` are estimates that leave out one of n prompts each."""
    n = len(values)
    error = math.sqrt((n - 1) / n * float(((values - values.mean()) ** 2).sum()))
    return float(stats.t.ppf(0.975, n - 1)) * error


def show(run: RunData) -> None:
    half, missed = jackknife(run), []
    say(f"{'text':<8}{'arm':<6}{'predicted':>10}{'measured':>10}   error [95 %]")
    for cell, (predicted, measured) in estimates(run).items():
        error = math.log(predicted / measured)
        low, value, high = (100 * math.expm1(error + sign * half[cell]) for sign in (-1, 0, 1))
        missed.append(abs(value))
        say(f"{cell[0]:<8}{cell[1]:<6}{predicted:>10.2f}{measured:>10.2f}   {value:+.1f} % [{low:+.1f}, {high:+.1f}]")
    for costs in document([run]).arms[0].costs:
        say(f"{costs.regime}: plain step {interval(costs.step_ms, 1)} ms over {costs.step_ms.n} repeats")
    loads = sorted(value for value in run.table["load_1m"].to_pylist() if value is not None)
    close = sum(value <= 100 * CLOSE for value in missed)
    say(f"load {loads[0]:.1f} to {loads[-1]:.1f} while it ran")
    say(f"median |error| {np.median(missed):.1f} %; {close} of {len(missed)} cells within {100 * CLOSE:.0f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--quick", action="store_true", help="a smoke test: two k and two texts of each length")
    parser.add_argument("--draft", type=Path, help="another draft than the demo's")
    parser.add_argument("--out", type=Path, help="keep the run there")
    asked = parser.parse_args()
    draft = asked.draft or draft_folder(asked.cache)
    ks, count = (QUICK_KS, QUICK_PROMPTS) if asked.quick else (KS, PROMPTS)
    with tempfile.TemporaryDirectory() as scratch:
        show(measure(asked.cache, draft, ks, count, asked.out or Path(scratch) / "run"))


if __name__ == "__main__":
    main()
