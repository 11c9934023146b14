import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specprof.records import Round
from specprof.spool import SpoolWriter, read_attempts, read_requests, scan_segment

END = {"prompt_tokens": 9, "response_tokens": 5, "first_tokens": 1, "finish_reason": "eos"}


def paths(folder):
    return sorted(folder.glob("*.seg"))


def requests(folder):
    return read_requests(scan_segment(path) for path in paths(folder))


@pytest.fixture
def straddling(tmp_path, identity, three_of_five):
    """r1 in all three segments, r2 only in the second."""
    with SpoolWriter(tmp_path, "w") as writer:
        writer.begin(1, identity(1))
        writer.round(1, three_of_five)
        writer.roll()
        writer.begin(2, identity(2))
        writer.round(1, Round(5, 5, 0, 1))
        writer.end(2, END | {"response_tokens": 1})
        writer.roll()
        writer.end(1, END | {"response_tokens": 6})
    return tmp_path


def test_a_request_that_straddles_segments_is_put_together(straddling, three_of_five):
    first = next(request for request in requests(straddling) if request.request_id == "r1")
    assert first.rounds == (three_of_five, Round(5, 5, 0, 1))
    assert (first.complete, first.finish_reason, first.response_tokens, first.writer) == (True, "eos", 6, "w")


def test_an_attempt_knows_the_segments_it_is_in(straddling):
    attempts = read_attempts(scan_segment(path) for path in paths(straddling))
    names = {a.request.request_id: sorted(path.name for path in a.paths) for a in attempts}
    assert names == {"r1": ["w-00000.seg", "w-00001.seg", "w-00002.seg"], "r2": ["w-00001.seg"]}


def test_a_request_without_an_end_counts_what_it_emitted(tmp_path, identity, three_of_five):
    with SpoolWriter(tmp_path, "w") as writer:
        writer.begin(1, identity(1) | {"first_tokens": 1, "finish_reason": "eos"})
        writer.round(1, three_of_five)
        writer.round(1, three_of_five)
    (request,) = requests(tmp_path)
    assert (request.complete, request.finish_reason, request.response_tokens) == (False, None, 9)


def test_a_request_that_lost_a_segment_in_the_middle_is_not_complete(straddling):
    paths(straddling)[1].unlink()
    (request,) = requests(straddling)
    assert (request.request_id, request.complete, request.response_tokens) == ("r1", False, 1 + 4)


def test_behind_damage_an_open_request_does_not_go_on(straddling):
    middle = paths(straddling)[1]
    data = bytearray(middle.read_bytes())
    data[data.index(b"r2") + 1] ^= 4
    middle.write_bytes(data)
    (request,) = requests(straddling)
    assert (request.request_id, request.complete, len(request.rounds)) == ("r1", False, 1)


def test_frames_whose_beginning_was_sealed_are_left_out(straddling):
    paths(straddling)[0].unlink()
    assert [request.request_id for request in requests(straddling)] == ["r2"]


def test_a_request_that_begins_again_under_its_own_id_starts_over(tmp_path, identity, three_of_five):
    with SpoolWriter(tmp_path, "w") as writer:
        writer.begin(1, identity(1))
        writer.round(1, Round(5, 5, 0, 1))
        writer.begin(1, identity(1))
        writer.round(1, three_of_five)
        writer.end(1, END | {"response_tokens": 5})
    (request,) = requests(tmp_path)
    assert (request.complete, request.rounds) == (True, (three_of_five,))


def test_a_request_cut_while_it_starts_over_keeps_the_rounds_it_had(tmp_path, identity, three_of_five):
    with SpoolWriter(tmp_path, "w") as writer:
        writer.begin(1, identity(1))
        writer.round(1, three_of_five)
        writer.round(1, Round(5, 5, 0, 1))
        writer.begin(1, identity(1))
        writer.round(1, three_of_five)
    (request,) = requests(tmp_path)
    assert (request.complete, request.rounds) == (False, (three_of_five, Round(5, 5, 0, 1)))


def test_a_key_that_begins_another_request_ends_the_first_as_incomplete(tmp_path, identity):
    with SpoolWriter(tmp_path, "w") as writer:
        writer.begin(1, identity(1))
        writer.begin(1, identity(2))
        writer.end(1, END)
    assert [(r.request_id, r.complete) for r in requests(tmp_path)] == [("r1", False), ("r2", True)]


@settings(max_examples=25, deadline=None)
@given(keys=st.lists(st.integers(0, 3), max_size=40), segment_bytes=st.integers(300, 2000))
def test_interleaved_requests_come_apart_whatever_the_segment_size(tmp_path_factory, keys, segment_bytes):
    folder = tmp_path_factory.mktemp("spool")
    with SpoolWriter(folder, "w", segment_bytes) as writer:
        for key in range(4):
            writer.begin(key, {"request_id": f"r{key}", "prompt_id": "p", "arm": "sd", "task": "code"})
        for number, key in enumerate(keys):
            writer.round(key, Round(1, 1, 0, 1, step=number))
        for key in range(4):
            writer.end(key, {"prompt_tokens": 1, "response_tokens": keys.count(key)})
    found = {request.request_id: [round.step for round in request.rounds] for request in requests(folder)}
    assert found == {f"r{key}": [n for n, other in enumerate(keys) if other == key] for key in range(4)}
