"""The GPU check where there is no GPU: every path runs on small shapes, and what it would complain about is caught."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `hf`")
pytest.importorskip("transformers", reason="needs the extra `hf`")
ROOT = Path(__file__).parents[2]
TIMED = [
    "event times against the wall clock",
    "cost of the hook",
    "rounds in the engine's loop",
    "forward passes alone",
]


def start(*arguments):
    """The check by its own command, without an installed specprof."""
    paths = ":".join(str(ROOT / folder) for folder in ("", "tools", "tests/support"))
    environment = {"PYTHONPATH": paths, "PATH": "", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "gpu_check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd="/")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    out = tmp_path_factory.mktemp("gpu") / "kept"
    return start("--device", "cpu", "--tiny", "--out", out), out


@pytest.fixture
def part(tiny, monkeypatch):
    """A module of the check."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return lambda name: importlib.import_module(f"gpu_check.{name}")


@pytest.fixture
def stand(part, tmp_path):
    return part("stand").Stand(torch.device("cpu"), True, part("outcome").Budget(1000), tmp_path)


def test_without_a_gpu_the_tiny_run_is_judged_and_times_are_not(ran):
    done, out = ran
    assert done.returncode == 0, done.stderr
    checks = {check["title"]: check for check in json.loads((out / "gpu.json").read_text())["checks"]}
    assert checks["a tiny run end to end"]["verdict"] == "PASS", checks
    assert {title: checks[title]["verdict"] for title in TIMED} == dict.fromkeys(TIMED, "SKIPPED")
    assert all("no CUDA device" in checks[title]["why"] for title in TIMED)
    assert not any(checks[title]["finding"] is None for title in TIMED)


def test_the_page_is_printed_and_kept(ran):
    done, out = ran
    assert (out / "gpu.md").read_text() == done.stdout
    assert all(f"| {title} | SKIPPED |" in done.stdout for title in TIMED)
    assert f"| torch | {torch.__version__} |" in done.stdout


def test_every_cell_holds_all_repeats_of_every_width_and_of_the_draft(ran):
    checks = json.loads((ran[1] / "gpu.json").read_text())["checks"]
    cells = next(check for check in checks if check["title"] == "forward passes alone")["finding"]["figures"]["cells"]
    assert [(cell["context"], cell["batch"]) for cell in cells] == [(16, 1), (16, 2), (48, 1), (48, 2)]
    for cell in cells:
        assert [(t["model"], t["width"], len(t["ms"])) for t in cell["times"]] == [
            ("target", 0, 3), ("target", 1, 3), ("target", 4, 3), ("draft", 0, 3),
        ]  # fmt: skip


def test_without_time_nothing_is_done_and_that_is_no_success(tmp_path):
    done = start("--device", "cpu", "--tiny", "--seconds", "0", "--out", tmp_path)
    assert done.returncode == 1
    assert done.stdout.count("| SKIPPED | 0 s were left") == 5


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_an_error_of_the_environment():
    done = start()
    assert done.returncode == 4
    assert done.stderr.startswith("error: device `cuda` is not there: 0 CUDA devices\nhint: ")


BREAKS = [
    (ValueError("no such thing"), "FAIL", "ValueError: no such thing"),
    (ImportError("cannot import name 'a'", name="specprof.records"), "FAIL", "ImportError: cannot import name 'a'"),
    (ModuleNotFoundError("No module named 'scipy'", name="scipy.stats"), "SKIPPED",
     "ModuleNotFoundError: No module named 'scipy'"),
]  # fmt: skip


@pytest.mark.parametrize(("error", "verdict", "why"), BREAKS)
def test_a_check_that_breaks_is_a_finding_and_a_package_that_lacks_is_none(
    part, stand, monkeypatch, error, verdict, why
):
    main = part("__main__")

    def broken(stand):
        raise error

    monkeypatch.setattr(main, "import_module", lambda name: SimpleNamespace(check=broken))
    outcome = main._attempt(main.Check("hook", "hook", 1), stand, None)
    assert (outcome.verdict, outcome.why) == (verdict, why)


def test_what_the_engine_refuses_is_skipped_with_its_reason(part, stand):
    main = part("__main__")
    outcome = main._attempt(main.Check("hook", "hook", 1), stand, "transformers 4.40 is not supported")
    assert (outcome.verdict, outcome.why) == ("SKIPPED", "transformers 4.40 is not supported")


def test_a_clock_that_runs_at_double_speed_is_noticed(part, stand, monkeypatch):
    clock = importlib.import_module("specprof.engines.huggingface.clock")
    monkeypatch.setattr(clock.HostClock, "between", lambda self, start, end: 2 * (end - start))
    (fault,) = part("events").check(stand).faults
    assert "apart, at most 3% is allowed" in fault


def test_an_answer_other_than_the_reference_s_is_noticed(part):
    end_to_end, arm = part("end_to_end"), SimpleNamespace(id="lookup")
    job = SimpleNamespace(prompt=SimpleNamespace(id="p1"), sample=0, arm=arm, seed=0, max_tokens=3)
    expected = SimpleNamespace(rounds=[(2, 1, 2), (0, 0, 1)], output=[7, 8, 9])
    bench = SimpleNamespace(draft="noisy", reference=lambda *_: expected)
    row = {"proposed": [2, 0], "accepted": [1, 0], "emitted": [2, 1], "output_ids": [7, 8, 9]}
    assert end_to_end._differs(bench, job, row) is None
    for changed in ({"accepted": [2, 0]}, {"output_ids": [7, 8, 8]}):
        assert end_to_end._differs(bench, job, row | changed) == "`p1` of `lookup` differs from the reference"
    assert end_to_end._differs(bench, job, None) == "the run directory lacks `p1` of `lookup`"


def test_the_fixed_cache_gives_what_a_growing_one_gives_and_forgets_it(part, stand):
    transformers, model = importlib.import_module("transformers"), stand.pair.target
    fixed = part("cache").fixed_cache(model, batch=2, context=5, extra=3)
    grown = transformers.DynamicCache()
    for index, layer in enumerate(fixed.layers):
        grown.update(layer.keys.clone(), layer.values.clone(), index)
    ids = torch.tensor([[3, 4, 5], [6, 7, 8]])
    with torch.no_grad():
        expected = model(ids, cache=grown).logits
        for _ in range(2):
            torch.testing.assert_close(model(ids, cache=fixed).logits, expected)
    assert (fixed.get_seq_length(), grown.get_seq_length()) == (5, 8)


def test_cells_for_which_there_is_no_time_are_named(part, stand, tmp_path):
    hurried = part("stand").Stand(stand.device, True, part("outcome").Budget(0), tmp_path)
    finding = part("forwards").check(hurried)
    assert [cell["batch"] for cell in finding.figures["cells"]] == [1]
    assert finding.left_out == tuple(
        f"batch {batch}, context {context}: 0 s were left" for context, batch in ((16, 2), (48, 1), (48, 2))
    )


def test_the_cache_of_the_large_shape_at_batch_64_is_34_gb(part):
    """2 × 32 layers × 64 × 8 heads × 4096 places × 128 wide × 2 bytes."""
    config = SimpleNamespace(num_hidden_layers=32, num_key_value_heads=8, hidden_size=4096, num_attention_heads=32)
    embeddings = SimpleNamespace(weight=torch.empty(0, dtype=torch.bfloat16))
    model = SimpleNamespace(config=config, get_input_embeddings=lambda: embeddings)
    assert part("cache").bytes_of(model, 64, 4096) == 34_359_738_368


def test_a_cost_that_was_not_measured_and_an_arm_that_was_not_reported_are_noticed(part, monkeypatch):
    end_to_end = part("end_to_end")
    report = SimpleNamespace(arms=[SimpleNamespace(arm="one")])
    monkeypatch.setattr(end_to_end, "document", lambda runs: report)
    monkeypatch.setattr(end_to_end, "render", lambda report: "nothing")
    run = SimpleNamespace(info={"calibration": [{"error": "no room"}, {}]}, state="complete", table=None)
    arms = [SimpleNamespace(id=id, method=method) for id, method in (("one", "x"), ("two", "x"), ("baseline", "none"))]
    assert list(end_to_end._faults(run, arms)) == [
        "the report lacks arm `two`", "costs were not measured: no room", "the report has no table",
    ]  # fmt: skip


def test_the_loop_gives_costs_at_its_context(part, stand):
    finding = part("loop").check(stand)
    (table,) = finding.tables
    assert table.headings == ("context", "t₁ ms", "α", "α₀", "φ", "v(1)", "v(2)", "v(4)")
    assert [(len(row), row[0]) for row in table.rows] == [(8, "64")]
    assert finding.faults == ()


@pytest.mark.parametrize(("free_gb", "reason"), [(40, "caches of 43 GB, 40 GB are free"), (60, None)])
def test_caches_that_do_not_fit_into_the_memory_are_left_out(part, monkeypatch, free_gb, reason):
    """34.4 GB of the large shape and 8.6 of the small one."""
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free_gb * 10**9, 140 * 10**9))
    sizes = {"large": 34_359_738_368, "small": 8_589_934_592}
    monkeypatch.setattr(part("forwards"), "bytes_of", lambda model, batch, context: sizes[model])
    stand = SimpleNamespace(
        budget=part("outcome").Budget(100),
        device=SimpleNamespace(type="cuda"),
        pair=SimpleNamespace(target="large", draft="small"),
    )
    assert part("forwards")._no_room(stand, 64, 4096, 1.0) == reason
