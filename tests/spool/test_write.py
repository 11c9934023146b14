import fcntl
import signal
import subprocess
import sys

import pytest

from specprof.errors import EnvironmentError_, UsageError
from specprof.records import Round
from specprof.spool import SpoolWriter, read_requests, read_segment, scan_segment

ENDLESS = """
import sys
from pathlib import Path
from specprof.records import Round
from specprof.spool import SpoolWriter
writer = SpoolWriter(Path(sys.argv[1]), "w", segment_bytes=4096)
writer.begin(1, {"request_id": "r", "prompt_id": "p", "arm": "sd", "task": "code"})
for number in range(10**9):
    writer.round(1, Round(5, 5, 0, 1, step=number))
    print(number, flush=True)
"""


def segments(folder):
    return [read_segment(path) for path in sorted(folder.glob("*.seg"))]


def test_a_closed_writer_leaves_small_closed_segments(tmp_path, identity, three_of_five):
    with SpoolWriter(tmp_path / "spool", "w") as writer:
        writer.begin(1, identity(1))
        writer.round(1, three_of_five)
        writer.end(1, {"prompt_tokens": 9, "response_tokens": 4})
    (segment,) = segments(tmp_path / "spool")
    assert segment.path.name == "w-00000.seg"
    assert (segment.closed, segment.torn, len(segment.frames)) == (True, False, 3)
    assert segment.path.stat().st_size < 1000


def test_a_killed_writer_loses_nothing_that_was_appended(tmp_path):
    command = [sys.executable, "-c", ENDLESS, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while (last := int(process.stdout.readline())) < 200:
            pass
        process.send_signal(signal.SIGKILL)
        last = int(([last, *process.stdout.read().split()])[-1])
    (request,) = read_requests(segments(tmp_path))
    steps = [round.step for round in request.rounds]
    assert last >= 200
    assert steps[: last + 1] == list(range(last + 1))
    assert len(steps) <= last + 2  # one more may have been appended and not yet printed
    assert not request.complete
    assert request.response_tokens == len(steps)


def test_a_live_writer_can_be_read(tmp_path, identity, three_of_five):
    writer = SpoolWriter(tmp_path, "w")
    writer.begin(1, identity(1))
    writer.round(1, three_of_five)
    (segment,) = segments(tmp_path)
    assert (segment.closed, segment.torn) == (False, False)
    assert read_requests([segment])[0].rounds == (three_of_five,)
    writer.close()


def test_full_segments_roll_by_themselves_and_all_rounds_are_there(tmp_path, identity):
    sent = [Round(5, 5, 0, 1, step=number) for number in range(50)]
    with SpoolWriter(tmp_path, "w", segment_bytes=1024) as writer:
        writer.begin(1, identity(1))
        for round in sent:
            writer.round(1, round)
        writer.end(1, {"prompt_tokens": 9, "response_tokens": 50})
    assert len(segments(tmp_path)) > 3
    assert all(segment.closed for segment in segments(tmp_path))
    (request,) = read_requests(segments(tmp_path))
    assert request.rounds == tuple(sent)
    assert request.complete


def test_a_frame_larger_than_a_segment_gets_a_larger_segment(tmp_path, identity):
    with SpoolWriter(tmp_path, "w", segment_bytes=1024) as writer:
        writer.begin(1, identity(1) | {"prompt_text": "x" * 5000})
        writer.end(1, {"prompt_tokens": 9, "response_tokens": 0})
    (request,) = read_requests(segments(tmp_path))
    assert len(request.prompt_text) == 5000


def test_roll_starts_a_segment_only_behind_a_used_one(tmp_path, identity):
    with SpoolWriter(tmp_path, "w") as writer:
        writer.roll()
        assert len(segments(tmp_path)) == 1
        writer.begin(1, identity(1))
        writer.roll()
        assert [segment.closed for segment in segments(tmp_path)] == [True, False]


def test_a_second_life_of_a_writer_leaves_the_first_ones_segments_alone(tmp_path, identity, three_of_five):
    for life in (1, 2):
        with SpoolWriter(tmp_path, "w") as writer:
            writer.begin(1, identity(life))
            writer.round(1, three_of_five)
    assert [request.request_id for request in read_requests(segments(tmp_path))] == ["r1", "r2"]


def test_a_writer_whose_new_file_a_sealer_took_for_a_dead_ones_opens_another(tmp_path, monkeypatch, identity):
    lock = fcntl.flock

    def too_late(descriptor, operation):
        monkeypatch.undo()
        (tmp_path / "w-00000.seg").unlink()
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", too_late)
    with SpoolWriter(tmp_path, "w") as writer:
        writer.begin(1, identity(1))
    assert [segment.path.name for segment in segments(tmp_path)] == ["w-00001.seg"]


def test_a_request_must_say_who_it_is(tmp_path):
    with SpoolWriter(tmp_path, "w") as writer, pytest.raises(TypeError, match="arm, prompt_id, task"):
        writer.begin(1, {"request_id": "r"})


def test_a_round_without_a_begin_is_refused(tmp_path, three_of_five):
    with SpoolWriter(tmp_path, "w") as writer, pytest.raises(KeyError):
        writer.round(1, three_of_five)


def test_a_writer_with_a_slash_is_refused(tmp_path):
    with pytest.raises(UsageError, match="writer `a/b`"):
        SpoolWriter(tmp_path, "a/b")


def test_a_full_disk_is_an_error_when_the_segment_is_opened_and_keeps_what_is_there(small_disk, identity):
    with SpoolWriter(small_disk, "w", segment_bytes=300 << 10) as writer:
        writer.begin(1, identity(1))
        with pytest.raises(EnvironmentError_, match=f"cannot write to `{small_disk}`: the disk is full") as caught:
            SpoolWriter(small_disk, "other", segment_bytes=300 << 10)
        assert "free some space" in caught.value.hint
    assert [path.name for path in small_disk.iterdir()] == ["w-00000.seg"]
    assert read_requests(segments(small_disk))[0].request_id == "r1"


def test_a_writer_goes_on_when_a_full_disk_has_room_again(small_disk, identity, three_of_five):
    with SpoolWriter(small_disk, "w", segment_bytes=100 << 10) as writer:
        writer.begin(1, identity(1) | {"prompt_text": "x" * (90 << 10)})
        ballast = small_disk / "ballast"
        ballast.write_bytes(bytes(400 << 10))
        with pytest.raises(EnvironmentError_):
            writer.roll()
        ballast.unlink()
        writer.round(1, three_of_five)
    assert read_requests(segments(small_disk))[0].rounds == (three_of_five,)


def test_a_read_only_folder_is_an_error_that_names_it(freezable):
    folder, freeze = freezable
    freeze()
    with pytest.raises(EnvironmentError_, match=f"cannot write to `{folder}`: Read-only"):
        SpoolWriter(folder, "w")


def test_a_folder_below_a_file_is_an_error_that_names_it(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentError_, match="file/spool`: Not a directory"):
        SpoolWriter(tmp_path / "file" / "spool", "w")


def test_without_posix_fallocate_the_space_is_written(tmp_path, monkeypatch, identity):
    monkeypatch.delattr("os.posix_fallocate")
    writer = SpoolWriter(tmp_path, "w", segment_bytes=8192)
    assert (tmp_path / "w-00000.seg").stat().st_size == 8192
    writer.begin(1, identity(1))
    writer.close()
    assert scan_segment(tmp_path / "w-00000.seg").closed
