import os
import shutil
import signal
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from specprof.errors import DamagedError, UsageError
from specprof.records import Round
from specprof.spool import SpoolWriter, fields_of
from specprof.store import read
from specprof.store.read import read_run
from specprof.store.schema import SCHEMA
from specprof.store.seal import seal, write_shard

WRITING = """
import sys, time
from pathlib import Path
from specprof.records import Round
from specprof.spool import SpoolWriter, fields_of
from specprof.store.run import create
with create(Path(sys.argv[1]), {"run_id": "killed"}) as run, SpoolWriter(run.path / "spool", "w") as writer:
    for key in (1, 2):
        writer.begin(key, {"request_id": f"r{key}", "prompt_id": f"p{key}", "arm": "sd", "task": "code"})
        writer.round(key, Round(5, 5, 3, 4))
    writer.end(1, {"prompt_tokens": 9, "response_tokens": 4})
    print("ready", flush=True)
    time.sleep(60)
"""


def ids(run):
    return sorted(run.table["request_id"].to_pylist())


def rewritten(path, change):
    """The shard with some columns changed, its metadata kept."""
    table = change(pq.read_table(path))
    pq.write_table(table, path)


def test_a_run_is_its_info_its_state_and_all_its_requests(run_dir, request_of):
    write_shard(run_dir, "w", [request_of(1), request_of(2)])
    run = read_run(run_dir)
    assert (run.info["run_id"], run.state, run.problems, run.superseded) == ("demo", "running", (), 0)
    assert ids(run) == ["r1", "r2"]
    assert run.table.schema.equals(SCHEMA.remove_metadata())


def test_a_run_without_requests_is_an_empty_table(run_dir):
    assert read_run(run_dir).table.num_rows == 0


def test_a_projection_has_only_its_columns_in_its_order(run_dir, request_of):
    write_shard(run_dir, "w", [request_of(1)])
    table = read_run(run_dir, columns=["task", "accepted", "labels"]).table
    assert table.to_pydict() == {"task": ["code"], "accepted": [[3, 5]], "labels": [[]]}


def test_a_projection_is_checked_all_the_same(run_dir, request_of):
    path = write_shard(run_dir, "w", [request_of(1)])
    rewritten(path, lambda t: t.set_column(29, SCHEMA.field("accepted_total"), pa.array([7], pa.int32())))
    assert SCHEMA.names[29] == "accepted_total"
    with pytest.raises(DamagedError, match="`accepted_total` is 7, its rounds add up to 8"):
        read_run(run_dir, columns=["task"])


def test_a_killed_run_is_interrupted_and_its_unfinished_request_can_be_read(tmp_path):
    path = tmp_path / "run"
    with subprocess.Popen([sys.executable, "-c", WRITING, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        live = read_run(path)
        process.send_signal(signal.SIGKILL)
        process.wait()
    dead = read_run(path)
    assert (live.state, dead.state) == ("running", "interrupted")
    for run in (live, dead):
        table = run.table.sort_by("request_id")
        assert table["complete"].to_pylist() == [True, False]
        assert table["accepted"].to_pylist() == [[3], [3]]
        assert table["response_tokens"].to_pylist() == [4, 4]


def test_the_spool_lies_over_the_shards_and_reading_writes_nothing(run_dir, request_of, spooled):
    write_shard(run_dir, "w", [request_of(1)])
    with SpoolWriter(run_dir / "spool", "w") as writer:
        spooled(writer, request_of(2))
        before = sorted((path, path.stat().st_mtime_ns) for path in run_dir.rglob("*"))
        assert ids(read_run(run_dir)) == ["r1", "r2"]
        assert sorted((path, path.stat().st_mtime_ns) for path in run_dir.rglob("*")) == before


def test_an_unfinished_attempt_gives_way_to_the_finished_one_of_the_same_job(run_dir, request_of, spooled):
    with SpoolWriter(run_dir / "spool", "killed") as writer:
        spooled(writer, request_of(1, complete=False), request_of(2, complete=False))
    again = request_of(1, request_id="r1-again")
    other_arm = request_of(2, request_id="r2-baseline", arm="baseline", rounds=())
    write_shard(run_dir, "w", [again, other_arm])
    run = read_run(run_dir)
    assert (ids(run), run.superseded) == (["r1-again", "r2", "r2-baseline"], 1)


def test_a_request_tried_again_under_the_same_id_is_there_once(run_dir, request_of, spooled):
    for complete in (False, True, False):
        with SpoolWriter(run_dir / "spool", "w") as writer:
            spooled(writer, request_of(1, complete=complete))
    run = read_run(run_dir)
    assert run.table["complete"].to_pylist() == [True]
    assert run.superseded == 0


def test_two_writers_are_read_together_and_a_shared_id_names_both(run_dir, request_of, spooled):
    for name, number in (("a", 1), ("b", 2)):
        with SpoolWriter(run_dir / "spool", name) as writer:
            spooled(writer, request_of(number))
    assert ids(read_run(run_dir)) == ["r1", "r2"]
    with SpoolWriter(run_dir / "spool", "c") as writer:
        spooled(writer, request_of(2))
    with pytest.raises(DamagedError, match=r"`r2` is in `.*b-00000\.seg` and `.*c-00000\.seg`"):
        read_run(run_dir)
    seal(run_dir)
    with pytest.raises(DamagedError, match=r"`r2` is in `.*part-b-00000\.parquet` and `.*part-c-00000\.parquet`"):
        read_run(run_dir)


def test_a_copied_shard_is_found_and_left_out_on_request(run_dir, request_of):
    path = write_shard(run_dir, "w", [request_of(1), request_of(2)])
    shutil.copy(path, path.with_name("part-w-copy.parquet"))
    with pytest.raises(DamagedError, match=r"request `r1` is in .*part-w-00000.*part-w-copy"):
        read_run(run_dir)
    run = read_run(run_dir, skip_bad=True)
    assert ids(run) == ["r1", "r2"]
    assert len(run.problems) == 1


def cut_in_half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip_a_data_byte(path):
    data = bytearray(path.read_bytes())
    data[data.index(b"r1")] ^= 4
    path.write_bytes(data)


def without_version(path):
    pq.write_table(pq.read_table(path).replace_schema_metadata(), path)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (cut_in_half, "cannot be read"),
        (flip_a_data_byte, "cannot be read: .*CRC"),
        (lambda path: path.write_bytes(b""), "cannot be read"),
        (lambda path: path.write_text("hello"), "cannot be read"),
        (without_version, "has no schema version"),
        (lambda path: rewritten(path, lambda t: t.drop_columns(["emitted"])), "has no column emitted"),
        (
            lambda path: rewritten(path, lambda t: t.set_column(0, "request_id", pa.array([1]))),
            "has column request_id as int64, not string",
        ),
    ],
    ids=["half", "flipped", "empty", "text", "no version", "no column", "wrong type"],
)
def test_a_bad_shard_is_named_and_left_out_on_request(run_dir, request_of, spoil, words):
    bad = write_shard(run_dir, "w", [request_of(1)])
    write_shard(run_dir, "w", [request_of(2)])
    spoil(bad)
    with pytest.raises(DamagedError, match=f"`{bad}` .*{words}") as caught:
        read_run(run_dir)
    assert "--skip-bad" in caught.value.hint
    run = read_run(run_dir, skip_bad=True)
    assert ids(run) == ["r2"]
    assert len(run.problems) == 1
    assert str(bad) in run.problems[0]


def test_a_newer_shard_says_so(run_dir, request_of):
    path = write_shard(run_dir, "w", [request_of(1)])
    rewritten(path, lambda t: t.replace_schema_metadata({"specprof.schema": "2"}))
    with pytest.raises(UsageError, match=r"part-w-00000\.parquet` has schema 2; this specprof reads up to 1"):
        read_run(run_dir)


def test_of_a_damaged_segment_what_precedes_the_damage_is_kept(run_dir, request_of, spooled):
    with SpoolWriter(run_dir / "spool", "w") as writer:
        spooled(writer, request_of(1), request_of(2), request_of(3))
    path = run_dir / "spool" / "w-00000.seg"
    data = bytearray(path.read_bytes())
    data[data.index(b"r2")] ^= 4
    path.write_bytes(data)
    with pytest.raises(DamagedError, match=rf"`{path}` is damaged at byte \d+"):
        read_run(run_dir)
    run = read_run(run_dir, skip_bad=True)
    assert ids(run) == ["r1"]
    assert len(run.problems) == 1


def test_a_broken_request_of_the_spool_is_named(run_dir, request_of, spooled):
    with SpoolWriter(run_dir / "spool", "w") as writer:
        spooled(writer, request_of(1, rounds=(Round(1, 1, 2, 3),)), request_of(2))
    with pytest.raises(DamagedError, match=r"w-00000\.seg`: request `r1`, round 0: accepted 2 is outside"):
        read_run(run_dir)
    assert ids(read_run(run_dir, skip_bad=True)) == ["r2"]


def test_a_sealer_at_work_makes_no_request_vanish(run_dir, request_of, spooled, monkeypatch):
    """The segment is sealed between our listing of the spool and our reading of it."""
    with SpoolWriter(run_dir / "spool", "w") as writer:
        spooled(writer, request_of(1))
    real = read.scan_segment

    def seal_first(path):
        seal(run_dir)
        return real(path)

    monkeypatch.setattr(read, "scan_segment", seal_first)
    assert ids(read_run(run_dir)) == ["r1"]
    assert not list((run_dir / "spool").iterdir())


def test_a_folder_that_is_no_run_says_so(tmp_path):
    with pytest.raises(UsageError, match="is not a run directory"):
        read_run(tmp_path)


def test_a_run_copied_without_its_hidden_and_empty_folders_can_be_read(tmp_path, run_dir, request_of):
    path = write_shard(run_dir, "w", [request_of(1)])
    copy = tmp_path / "copy"
    os.makedirs(copy / "requests")
    shutil.copy(path, copy / "requests")
    shutil.copy(run_dir / "run.json", copy)
    assert ids(read_run(copy)) == ["r1"]


def test_of_several_unfinished_attempts_the_last_one_stays(run_dir, request_of, spooled):
    for attempt in ("a", "b", "c"):
        with SpoolWriter(run_dir / "spool", attempt) as writer:
            request = request_of(1).with_(request_id=f"{attempt}-0")
            writer.begin(0, fields_of(request))
            for step in request.rounds[: "abc".index(attempt)]:
                writer.round(0, step)
    run = read_run(run_dir)
    assert (ids(run), run.superseded) == (["c-0"], 2)
