import json
import os
import subprocess
import sys

import pytest

from specprof.errors import DamagedError, EnvironmentError_, UsageError
from specprof.store.run import create, effective_state, read_info, resume

CHILD = """
import sys, time
from pathlib import Path
from specprof.store.run import create
run = create(Path(sys.argv[1]), {"run_id": "child"})
print("ready", flush=True)
time.sleep(60)
"""


@pytest.fixture
def other_process(tmp_path):
    """A run that another process is writing, and that process."""
    path = tmp_path / "run"
    with subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        yield path, process
        process.kill()


def test_a_new_run_is_running_and_has_its_folders(tmp_path):
    with create(tmp_path / "a" / "run", {"run_id": "demo"}) as run:
        info = read_info(run.path)
        assert info["schema"] == "specprof.run/1"
        assert (info["run_id"], info["state"], info["running"]["pid"]) == ("demo", "running", os.getpid())
        assert (run.path / "requests").is_dir()
        assert (run.path / "spool").is_dir()


@pytest.mark.parametrize(
    ("error", "state"), [(None, "complete"), (KeyboardInterrupt, "interrupted"), (ValueError, "failed")]
)
def test_a_run_ends_as_its_block_does(tmp_path, error, state):
    def block():
        with create(tmp_path / "run", {}):
            if error:
                raise error

    if error:
        with pytest.raises(error):
            block()
    else:
        block()
    assert read_info(tmp_path / "run")["state"] == state
    assert read_info(tmp_path / "run")["running"] is None


def test_an_explicit_ending_stays(tmp_path):
    with create(tmp_path / "run", {}) as run:
        run.finish("interrupted")
    assert read_info(run.path)["state"] == "interrupted"


def test_an_unknown_ending_is_refused(tmp_path):
    with create(tmp_path / "run", {}) as run, pytest.raises(ValueError, match="not done"):
        run.finish("done")


def test_an_update_changes_only_what_it_names(tmp_path):
    with create(tmp_path / "run", {"run_id": "demo", "load": 1}) as run:
        run.update(load=2)
        assert (read_info(run.path)["run_id"], read_info(run.path)["load"]) == ("demo", 2)
    assert not (run.path / ".run.json.tmp").exists()


def test_an_existing_run_is_never_overwritten(tmp_path):
    with create(tmp_path / "run", {"run_id": "first"}):
        pass
    with pytest.raises(UsageError, match="already holds a run") as caught:
        create(tmp_path / "run", {"run_id": "second"})
    assert "--resume" in caught.value.hint
    assert read_info(tmp_path / "run")["run_id"] == "first"


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match="is not empty"):
        create(tmp_path, {})
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_two_processes_never_write_one_run(other_process):
    path, process = other_process
    with pytest.raises(UsageError, match=f"process {process.pid} on "):
        resume(path)
    (path / "run.json").unlink()
    for folder in ("requests", "spool"):
        (path / folder).rmdir()
    with pytest.raises(UsageError, match=f"process {process.pid} is writing"):
        create(path, {})


def test_a_run_whose_process_was_killed_is_interrupted_and_can_be_resumed(other_process):
    path, process = other_process
    assert effective_state(read_info(path)) == "running"
    process.kill()
    process.wait()
    assert read_info(path)["state"] == "running"
    assert effective_state(read_info(path)) == "interrupted"
    with resume(path) as run:
        assert read_info(path)["running"]["pid"] == os.getpid()
        run.finish("complete")
    assert read_info(path)["run_id"] == "child"


def test_a_run_on_another_host_stays_running(other_process):
    path, process = other_process
    process.kill()
    process.wait()
    info = read_info(path)
    info["running"]["host"] = "elsewhere"
    assert effective_state(info) == "running"


def test_a_failed_run_can_be_resumed_and_a_complete_one_not(tmp_path):
    with create(tmp_path / "run", {}) as run:
        run.finish("failed")
    with resume(tmp_path / "run"):
        pass
    with pytest.raises(UsageError, match="is complete: nothing to resume"):
        resume(tmp_path / "run")


def test_a_folder_without_run_json_is_no_run(tmp_path):
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(UsageError, match="is not a run directory") as caught:
            read_info(path)
        assert "--out" in caught.value.hint


@pytest.mark.parametrize("content", [b'{"schema": "specprof.run/1", "sta', b"\xff\xfe", b""])
def test_half_a_run_json_is_damage(tmp_path, content):
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(DamagedError, match=r"run\.json` is damaged"):
        read_info(tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"schema": "specprof.run/2"}, "has schema 2; this specprof reads up to 1"),
        ({"schema": "other/1"}, "has no schema `specprof.run/…`"),
        ([], "has no schema"),
    ],
)
def test_a_newer_or_foreign_run_json_says_so(tmp_path, content, words):
    (tmp_path / "run.json").write_text(json.dumps(content))
    with pytest.raises(UsageError, match=words):
        read_info(tmp_path)


def test_an_unknown_state_is_damage(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"schema": "specprof.run/1", "state": "paused"}))
    with pytest.raises(DamagedError, match="has state 'paused'") as caught:
        read_info(tmp_path)
    assert "running, complete, interrupted, failed" in caught.value.hint


def test_a_place_that_cannot_be_written_is_an_environment_error(tmp_path, freezable):
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentError_, match="file/run`: Not a directory"):
        create(tmp_path / "file" / "run", {})
    folder, freeze = freezable
    freeze()
    with pytest.raises(EnvironmentError_, match=r"cannot write to `.*frozen`"):
        create(folder / "run", {})


def test_a_full_disk_keeps_the_old_run_json_and_the_first_error(small_disk):
    def fill_and_fail():
        with create(small_disk / "run", {"run_id": "demo"}) as run:
            (small_disk / "ballast").write_bytes(bytes(400 << 10))
            run.update(notes="x" * (200 << 10))

    with pytest.raises(EnvironmentError_, match="the disk is full"):
        fill_and_fail()
    assert read_info(small_disk / "run")["run_id"] == "demo"
