import os

import pytest

pytest.importorskip("transformers", reason="needs the extra `hf`")

from specprof.engines.huggingface.diagnose import machine
from specprof.engines.huggingface.diagnose.side import read_side


@pytest.fixture
def found(bench, monkeypatch):
    def look(*, cores=4, threads=1, load=0.0):
        monkeypatch.setattr(machine, "usable_cores", lambda: cores)
        monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
        findings = machine.findings(bench.config(bench.arm(), device="cpu", threads=threads))
        return {finding.what: finding for finding in findings}

    return look


def test_versions_and_device_are_named(found):
    findings = found()
    assert "transformers 5." in findings["versions"].value
    assert findings["device"].value.startswith("cpu (")


def test_more_threads_than_cores_are_a_warning(found):
    assert found(threads=4)["threads"].level == "ok"
    finding = found(threads=5)["threads"]
    assert (finding.level, finding.hint) == ("warning", "pass `--threads 4` or fewer")


def test_load_that_leaves_the_threads_no_core_is_a_warning(found):
    assert found(threads=2, load=2.0)["load"].level == "ok"
    assert found(threads=2, load=3.0)["load"].level == "warning"


@pytest.mark.parametrize(("quota", "cores"), [("max 100000", 8), ("250000 100000", 2), ("50000 100000", 1)])
def test_a_containers_quota_bounds_the_usable_cores(tmp_path, monkeypatch, quota, cores):
    (tmp_path / "cpu.max").write_text(f"{quota}\n")
    monkeypatch.setattr(machine, "_QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
    assert machine.usable_cores() == cores


def test_a_short_precision_is_explained_and_float32_is_exact(bench):
    target = read_side("target", bench.folders["target"], remote=False)
    assert machine.dtype(target, bench.config()).value == "float32"
    finding = machine.dtype(target, bench.config(dtype="bfloat16"))
    assert finding.value == "bfloat16"
    assert "numerics" in finding.meaning
