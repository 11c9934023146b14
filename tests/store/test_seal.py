import errno
import os
from contextlib import suppress

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

from specprof.errors import DamagedError, EnvironmentError_
from specprof.records import Round
from specprof.spool import SpoolWriter, fields_of
from specprof.store.read import read_run
from specprof.store.run import create
from specprof.store.seal import seal, write_shard


def shards(run_dir):
    return sorted(path.name for path in (run_dir / "requests").iterdir())


def segments(run_dir):
    return sorted(path.name for path in (run_dir / "spool").iterdir())


def ids(run_dir):
    return sorted(read_run(run_dir, columns=["request_id"]).table["request_id"].to_pylist())


def fill(folder):
    with suppress(OSError), (folder / "ballast").open("wb") as file:
        while os.write(file.fileno(), bytes(4096)):
            pass
    return folder / "ballast"


def test_a_shard_says_its_version_its_run_and_its_writer(run_dir, request_of):
    path = write_shard(run_dir, "w", [request_of(1)])
    assert path == run_dir / "requests" / "part-w-00000.parquet"
    metadata = pq.read_schema(path).metadata
    assert (metadata[b"specprof.schema"], metadata[b"specprof.run_id"]) == (b"1", b"demo")
    assert pq.read_table(path)["writer"].to_pylist() == ["w"]
    assert not list((run_dir / ".tmp").iterdir())


def test_shards_are_numbered_per_writer(run_dir, request_of):
    for number, writer in enumerate(["w", "w-1", "w", "w-1"]):
        write_shard(run_dir, writer, [request_of(number)])
    expected = ["part-w-00000", "part-w-00001", "part-w-1-00000", "part-w-1-00001"]
    assert shards(run_dir) == [f"{name}.parquet" for name in expected]


@pytest.mark.parametrize(
    "read",
    [
        lambda files: duckdb.sql(f"select * from '{files}'").df(),
        lambda files: pl.read_parquet(files).to_pandas(),
        lambda files: pd.read_parquet(os.path.dirname(files)),
    ],
    ids=["duckdb", "polars", "pandas"],
)
def test_other_tools_read_the_shards_without_help(run_dir, request_of, read):
    for number in (1, 2):
        changes = {"labels": {"language": "ko"}, "started_at": 1.5, "ttft_us": 700, "output_sha256": b"\0\1"}
        write_shard(run_dir, "w", [request_of(number, **changes)])
    frame = read(str(run_dir / "requests" / "*.parquet")).sort_values("request_id")
    assert frame["request_id"].tolist() == ["r1", "r2"]
    assert frame["accepted_total"].tolist() == [8, 8]
    assert [list(values) for values in frame["accepted"]] == [[3, 5], [3, 5]]
    assert frame["ttft_us"].tolist() == [700, 700]
    assert frame["started_at"].iloc[0] == pd.Timestamp(1.5, unit="s", tz="UTC")
    assert frame["draft_us"].isna().all()
    assert frame["labels"].iloc[0] in ([("language", "ko")], [{"key": "language", "value": "ko"}], {"language": "ko"})


def test_duckdb_and_polars_compute_with_the_lists(run_dir, request_of):
    write_shard(run_dir, "w", [request_of(1), request_of(2)])
    files = str(run_dir / "requests" / "*.parquet")
    assert duckdb.sql(f"select sum(list_sum(accepted)), any_value(labels) from '{files}'").fetchall() == [(16, {})]
    assert pl.scan_parquet(files).select(pl.col("emitted").list.sum().sum()).collect().item() == 18


def test_finished_requests_of_a_closed_segment_become_a_shard_and_the_segment_goes(run_dir, request_of, spooled):
    with SpoolWriter(run_dir / "spool", "w") as writer:
        spooled(writer, request_of(1), request_of(2))
    assert seal(run_dir) == [run_dir / "requests" / "part-w-00000.parquet"]
    assert segments(run_dir) == []
    assert ids(run_dir) == ["r1", "r2"]
    assert seal(run_dir) == []


def test_a_segment_that_is_being_written_is_left_alone_until_it_rolls(run_dir, request_of, spooled):
    with SpoolWriter(run_dir / "spool", "w") as writer:
        spooled(writer, request_of(1))
        assert seal(run_dir) == []
        writer.roll()
        assert [path.name for path in seal(run_dir)] == ["part-w-00000.parquet"]
        assert segments(run_dir) == ["w-00001.seg"]


def test_a_segment_stays_as_long_as_an_unfinished_request_needs_it(run_dir, request_of, spooled):
    with SpoolWriter(run_dir / "spool", "w") as writer:
        spooled(writer, request_of(1), request_of(2, complete=False))
        writer.roll()
        seal(run_dir)
        assert (shards(run_dir), segments(run_dir)) == (["part-w-00000.parquet"], ["w-00000.seg", "w-00001.seg"])
        assert seal(run_dir) == []  # r1 is not sealed a second time
        writer.end(1, {"prompt_tokens": 9, "response_tokens": 9})
    seal(run_dir)
    assert segments(run_dir) == []
    table = read_run(run_dir).table.sort_by("request_id")
    assert table["complete"].to_pylist() == [True, True]
    assert table["rounds"].to_pylist() == [2, 2]


def test_a_straddling_request_does_not_hold_segments_it_is_not_in(run_dir, request_of, spooled):
    with SpoolWriter(run_dir / "spool", "w") as writer:
        writer.begin(9, {"request_id": "r9", "prompt_id": "p9", "arm": "sd", "task": "code"})
        writer.roll()
        spooled(writer, request_of(1))
        writer.roll()
        seal(run_dir)
        assert segments(run_dir) == ["w-00000.seg", "w-00002.seg"]
        writer.round(9, Round(1, 1, 1, 2))
        writer.end(9, {"prompt_tokens": 9, "response_tokens": 2})
    seal(run_dir)
    assert segments(run_dir) == []
    assert ids(run_dir) == ["r1", "r9"]


def test_a_crash_between_the_shard_and_the_segments_end_seals_nothing_twice(run_dir, request_of, spooled):
    with SpoolWriter(run_dir / "spool", "w") as writer:
        spooled(writer, request_of(1))
    (segment,) = (run_dir / "spool").iterdir()
    content = segment.read_bytes()
    seal(run_dir)
    segment.write_bytes(content)  # as if the sealer had died before it removed the segment
    assert ids(run_dir) == ["r1"]
    assert seal(run_dir) == []
    assert (segments(run_dir), ids(run_dir)) == ([], ["r1"])


def test_each_writer_gets_a_shard_of_its_own_and_one_can_be_chosen(run_dir, request_of, spooled):
    for number, name in enumerate(["a", "b"]):
        with SpoolWriter(run_dir / "spool", name) as writer:
            spooled(writer, request_of(number))
    seal(run_dir, "b")
    assert shards(run_dir) == ["part-b-00000.parquet"]
    seal(run_dir)
    assert shards(run_dir) == ["part-a-00000.parquet", "part-b-00000.parquet"]
    assert read_run(run_dir).table.sort_by("request_id")["writer"].to_pylist() == ["a", "b"]


def test_a_broken_request_or_segment_stays_in_the_spool(run_dir, request_of, spooled):
    with SpoolWriter(run_dir / "spool", "w") as writer:
        spooled(writer, request_of(1), request_of(2, rounds=(Round(1, 1, 2, 3),)))
    (run_dir / "spool" / "x-00000.seg").write_bytes(b"not a segment at all")
    seal(run_dir)
    assert shards(run_dir) == ["part-w-00000.parquet"]
    assert segments(run_dir) == ["w-00000.seg", "x-00000.seg"]
    run = read_run(run_dir, skip_bad=True)
    assert run.table["request_id"].to_pylist() == ["r1"]
    assert len(run.problems) == 2


def test_the_empty_segment_of_a_writer_that_died_at_once_goes(run_dir):
    (run_dir / "spool" / "w-00000.seg").write_bytes(bytes(4096))
    seal(run_dir)
    assert segments(run_dir) == []


def test_what_a_killed_sealer_left_is_cleared(run_dir, request_of):
    (run_dir / ".tmp" / "part-w-00000.parquet").write_bytes(b"half")
    write_shard(run_dir, "w", [request_of(1)])
    assert not list((run_dir / ".tmp").iterdir())


def test_a_damaged_shard_stops_the_sealing_with_its_name(run_dir, request_of, spooled):
    path = write_shard(run_dir, "w", [request_of(1)])
    path.write_bytes(path.read_bytes()[:100])
    with SpoolWriter(run_dir / "spool", "w") as writer:
        spooled(writer, request_of(2))
    with pytest.raises(DamagedError, match=r"part-w-00000\.parquet` cannot be read"):
        seal(run_dir)
    assert segments(run_dir) == ["w-00000.seg"]


def test_a_full_disk_loses_nothing(small_disk, request_of, spooled):
    with create(small_disk / "run", {}) as run:
        with SpoolWriter(run.path / "spool", "w", 32 << 10) as writer:
            spooled(writer, *[request_of(number) for number in range(40)])
        ballast = fill(small_disk)
        with pytest.raises(EnvironmentError_, match="the disk is full"):
            seal(run.path)
        assert shards(run.path) == []
        assert not list((run.path / ".tmp").iterdir())
        ballast.unlink()
        assert len(ids(run.path)) == 40
        seal(run.path)
        assert (len(ids(run.path)), segments(run.path)) == (40, [])


def test_a_read_only_run_is_an_environment_error_to_seal_and_can_be_read(freezable, request_of, spooled):
    folder, freeze = freezable
    with create(folder / "run", {}) as run, SpoolWriter(run.path / "spool", "w", 32 << 10) as writer:
        spooled(writer, request_of(1))
    freeze()
    with pytest.raises(EnvironmentError_, match="Read-only file system") as caught:
        seal(run.path)
    assert caught.value.__cause__.errno == errno.EROFS
    assert ids(run.path) == ["r1"]


def test_a_request_that_starts_over_keeps_every_segment_that_holds_a_part_of_it(run_dir, request_of):
    """Killed while it was written again: the rounds it had stay readable, sealed around or not."""
    writer = SpoolWriter(run_dir / "spool", "w")
    request = request_of(1)
    writer.begin(0, fields_of(request))
    for step in request.rounds:
        writer.round(0, step)
    writer.roll()
    writer.begin(0, fields_of(request))
    writer.close()
    before = read_run(run_dir).table["rounds"].to_pylist()
    seal(run_dir)
    assert read_run(run_dir).table["rounds"].to_pylist() == before == [len(request.rounds)]
