import contextlib
import logging
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import slow_run

from specprof.capture.plan import plan
from specprof.capture.session import Spec, execute
from specprof.engines.simulated import PrefixEngine, Truth
from specprof.errors import DamagedError, EnvironmentError_, UsageError
from specprof.records import EngineConfig
from specprof.store.read import read_run
from specprof.store.run import read_info

SCRIPT = Path(slow_run.__file__)
PLANNED = {(f"p{i}", sample, arm) for i in range(20) for sample in range(2) for arm in ("sim", "baseline")}


def start(folder, kind="whole"):
    """Its errors go to this process's own stderr: a pipe would have to be drained."""
    return subprocess.Popen([sys.executable, SCRIPT, folder, kind])


def measured(folder):
    table = read_run(folder).table
    return [row for row in table.to_pylist() if row["phase"] == "measure"]


def wait_for_requests(folder, process, count):
    """Until `count` more requests than at the start are complete, or the process ends."""
    goal = count + (len(list(filter(lambda row: row["complete"], measured(folder)))) if has_run(folder) else 0)
    while process.poll() is None:
        if has_run(folder) and sum(row["complete"] for row in measured(folder)) >= goal:
            return
        time.sleep(0.02)


def has_run(folder):
    return (folder / "run.json").exists()


@pytest.fixture(scope="module")
def killed_ten_times(tmp_path_factory):
    """(folder, rows of unfinished requests seen after each kill) of a run that was shot ten times and then finished."""
    folder, rng, unfinished = tmp_path_factory.mktemp("killed") / "run", random.Random(5), []
    for _ in range(10):
        process = start(folder)
        wait_for_requests(folder, process, 1)
        time.sleep(rng.random() * 0.2)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert read_run(folder).state == "interrupted"
        unfinished.append([row for row in measured(folder) if not row["complete"]])
    assert start(folder).wait() == 0
    return folder, unfinished


def test_every_prompt_sample_and_arm_is_there_exactly_once(killed_ten_times):
    folder, _ = killed_ten_times
    run = read_run(folder)
    assert run.state == "complete"
    rows = measured(folder)
    assert Counter((row["prompt_id"], row["sample"], row["arm"]) for row in rows) == Counter(PLANNED)
    assert all(row["complete"] for row in rows)


def test_rounds_of_the_unfinished_request_were_readable(killed_ten_times):
    _, unfinished = killed_ten_times
    assert all(len(rows) <= 1 for rows in unfinished)
    rounds = [row["rounds"] for rows in unfinished for row in rows if row["arm"] == "sim"]
    assert sum(count > 0 for count in rounds) >= 2
    for row in (row for rows in unfinished for row in rows):
        assert row["response_tokens"] == row["first_tokens"] + sum(row["emitted"])


@pytest.mark.parametrize("kind", ["until", "talk"])
def test_what_a_killed_run_does_in_the_end_is_what_a_whole_one_does(tmp_path, kind):
    """Which prompts fill the buckets, and what a conversation says, do not depend on when the process was shot."""
    execute(PrefixEngine(), slow_run.spec(kind), tmp_path / "whole")
    folder, rng = tmp_path / "run", random.Random(6)
    for _ in range(4):
        process = start(folder, kind)
        wait_for_requests(folder, process, 2)
        time.sleep(rng.random() * 0.2)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert read_run(folder).state == "interrupted"
    assert start(folder, kind).wait() == 0
    same = ("prompt_id", "sample", "arm", "block", "prompt_tokens", "response_tokens", "output_sha256", "output_text")
    whole, killed = (
        sorted(tuple(str(row[name]) for name in same) for row in measured(path))
        for path in (tmp_path / "whole", folder)
    )
    assert whole == killed
    assert read_info(folder).get("until") == read_info(tmp_path / "whole").get("until")


def test_shards_alone_hold_the_same_answer(killed_ten_times):
    import pyarrow.parquet as pq

    folder, _ = killed_ten_times
    rows = pq.read_table(folder / "requests").to_pylist()
    keys = [(row["prompt_id"], row["sample"], row["arm"]) for row in rows if row["phase"] == "measure"]
    assert Counter(keys) == Counter(PLANNED)


def test_a_report_can_be_read_while_the_run_goes_on(tmp_path):
    folder = tmp_path / "run"
    process = start(folder)
    wait_for_requests(folder, process, 3)
    report = subprocess.run(
        [sys.executable, "-m", "specprof", "report", folder, "--json"], capture_output=True, text=True
    )
    alive = process.poll() is None
    process.kill()
    process.wait()
    assert alive
    assert report.returncode == 0, report.stderr
    assert '"state": "running"' in report.stdout


def test_ctrl_c_ends_a_run_as_interrupted_and_resume_does_the_rest(tmp_path):
    folder = tmp_path / "run"
    process = start(folder)
    wait_for_requests(folder, process, 2)
    process.send_signal(signal.SIGINT)
    process.wait()
    assert '"state": "interrupted"' in (folder / "run.json").read_text()
    before = {row["request_id"] for row in measured(folder) if row["complete"]}
    assert len(before) >= 2
    assert start(folder).wait() == 0
    rows = measured(folder)
    assert Counter((row["prompt_id"], row["sample"], row["arm"]) for row in rows) == Counter(PLANNED)
    assert before < {row["request_id"] for row in rows}


def test_an_engine_that_fails_leaves_a_failed_run_with_what_it_did(tmp_path):
    class Failing(PrefixEngine):
        def generate(self, jobs):
            for number, request in enumerate(super().generate(jobs)):
                if number == 5:
                    raise RuntimeError("the device fell off the bus")
                yield request

    jobs = plan(slow_run.PROMPTS, slow_run.ARMS, max_tokens=8)
    spec = Spec("slow", EngineConfig(arms=slow_run.ARMS, max_tokens=8), jobs, {"sha256": "x"}, warmup=0)
    with pytest.raises(RuntimeError, match="bus"):
        execute(Failing(), spec, tmp_path / "run")
    assert read_run(tmp_path / "run").state == "failed"
    assert sum(row["complete"] for row in measured(tmp_path / "run")) == 5
    execute(PrefixEngine(), spec, tmp_path / "run", go_on=True)
    assert Counter(row["complete"] for row in measured(tmp_path / "run")) == {True: 40}


def test_what_changed_is_named_when_a_run_cannot_be_resumed(tmp_path):
    config = slow_run.EngineConfig(arms=slow_run.ARMS, max_tokens=8)
    jobs = slow_run.plan(slow_run.PROMPTS[:2], slow_run.ARMS, max_tokens=8)
    spec = Spec("slow", config, jobs, {"sha256": "one"})
    execute(PrefixEngine(), spec, tmp_path / "run")
    other_arm = replace(slow_run.ARMS[0], k=5)
    changes = {
        "`arms.sim.k` was 3, is 5": replace(spec, config=replace(config, arms=(other_arm, slow_run.ARMS[1]))),
        "`prompts.sha256` was one, is two": replace(spec, prompts={"sha256": "two"}),
        "`seed` was 0, is 9": replace(spec, config=replace(config, seed=9)),
    }
    for key, changed in changes.items():
        with pytest.raises(UsageError, match=re.escape(key)):
            execute(PrefixEngine(), changed, tmp_path / "run", go_on=True)
    execute(PrefixEngine(), spec, tmp_path / "run", go_on=True)  # nothing is missing, nothing changes
    assert Counter(row["complete"] for row in measured(tmp_path / "run")) == {True: 4}
    run_json = (tmp_path / "run" / "run.json").read_text()
    (tmp_path / "run" / "run.json").write_text(run_json.replace('"state": "complete"', '"state": "failed"'))
    with pytest.raises(UsageError, match=re.escape("`truth.alpha` was 0.1, is 0.9")):
        execute(PrefixEngine(Truth(alpha=0.9)), spec, tmp_path / "run", go_on=True)


def test_an_existing_run_is_never_overwritten(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.json").write_text('{"schema": "specprof.run/1", "state": "complete"}')
    process = subprocess.run(
        [sys.executable, "-m", "specprof", "run", "--engine", "simulated-prefix", "--prompts", "-", "--out", folder],
        input='{"prompt": "hi"}',
        capture_output=True,
        text=True,
    )
    assert process.returncode == 2
    assert "already holds a run" in process.stderr
    assert "--resume" in process.stderr


def test_another_machine_is_warned_about_but_not_refused(tmp_path, monkeypatch, caplog):
    config = slow_run.EngineConfig(arms=slow_run.ARMS, max_tokens=8)
    spec = Spec("slow", config, slow_run.plan(slow_run.PROMPTS[:2], slow_run.ARMS, max_tokens=8), {"sha256": "one"})
    execute(PrefixEngine(), spec, tmp_path / "run")
    monkeypatch.setattr("specprof.capture.settings.describe_machine", lambda: {"cpu": "another"})
    monkeypatch.setattr(logging.getLogger("specprof"), "propagate", True)
    execute(PrefixEngine(), spec, tmp_path / "run", go_on=True)
    assert "`machine.cpu`" in caplog.text


def test_every_part_of_a_run_says_on_which_machine_it_ran(tmp_path, monkeypatch):
    jobs = plan(slow_run.PROMPTS, slow_run.ARMS, max_tokens=8)
    spec = Spec("slow", EngineConfig(arms=slow_run.ARMS, max_tokens=8), jobs, {"sha256": "x"}, warmup=0)
    folder = tmp_path / "run"
    execute(PrefixEngine(), spec, folder)
    (folder / "run.json").write_text((folder / "run.json").read_text().replace('"complete"', '"failed"'))
    monkeypatch.setattr("specprof.capture.settings.describe_machine", lambda: {"cpu": "another"})
    execute(PrefixEngine(), spec, folder, go_on=True)
    first, second = read_info(folder)["parts"]
    assert first["machine"]["cores"] >= 1
    assert second["machine"] == {"cpu": "another"}


def test_a_damaged_shard_stops_a_resume_unless_it_is_skipped(tmp_path):
    jobs = slow_run.plan(slow_run.PROMPTS, slow_run.ARMS, max_tokens=8)
    spec = Spec("slow", EngineConfig(arms=slow_run.ARMS, max_tokens=8), jobs, {"sha256": "x"}, warmup=0)
    folder = tmp_path / "run"
    execute(PrefixEngine(), spec, folder)
    (shard,) = (folder / "requests").iterdir()
    shard.write_bytes(shard.read_bytes()[:-40])
    (folder / "run.json").write_text((folder / "run.json").read_text().replace('"complete"', '"failed"'))
    with pytest.raises(DamagedError, match=re.escape(shard.name)):
        execute(PrefixEngine(), spec, folder, go_on=True)
    execute(PrefixEngine(), spec, folder, go_on=True, skip_bad=True)
    rows = read_run(folder, skip_bad=True).table.to_pylist()
    assert Counter((row["prompt_id"], row["arm"]) for row in rows) == Counter((job.key[0], job.key[2]) for job in jobs)


def test_a_disk_that_fills_up_in_the_middle_costs_nothing_that_was_recorded(roomy_disk, monkeypatch):
    monkeypatch.setattr("specprof.capture.drive.SEAL_EVERY", 10)  # a new segment then finds no room

    class Filling(PrefixEngine):
        """After five requests something else takes the rest of the disk."""

        def generate(self, jobs):
            for number, request in enumerate(super().generate(jobs), 1):
                yield request
                if number == 5:
                    fill(roomy_disk / "other")

    jobs = plan(slow_run.PROMPTS, slow_run.ARMS, max_tokens=8)
    spec = Spec("slow", EngineConfig(arms=slow_run.ARMS, max_tokens=8), jobs, {"sha256": "x"}, warmup=0)
    folder = roomy_disk / "run"
    with pytest.raises(EnvironmentError_, match="disk is full"):
        execute(Filling(), spec, folder)
    assert sum(row["complete"] for row in measured(folder)) == 10
    (roomy_disk / "other").unlink()
    assert read_run(folder).state in ("failed", "interrupted")
    execute(PrefixEngine(), spec, folder, go_on=True)
    rows = measured(folder)
    assert Counter((row["prompt_id"], row["arm"]) for row in rows) == Counter((job.key[0], job.key[2]) for job in jobs)


def fill(path):
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
