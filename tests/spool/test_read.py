import struct

import pytest

from specprof.errors import DamagedError, UsageError
from specprof.spool import SpoolWriter, read_requests, read_segment, scan_segment
from specprof.spool.frame import CLOSE, COUNT, ROUND, Header, pack

HEADER = Header("w", 1, 2, 0).pack()
FRAMES = [pack(ROUND, 1, b"round-%d" % number) for number in range(3)]
CLOSING = pack(CLOSE, 0, COUNT.pack(3))
AT_SECOND = len(HEADER) + len(FRAMES[0])


@pytest.fixture
def segment(tmp_path):
    def write(*parts):
        path = tmp_path / "w-00000.seg"
        path.write_bytes(b"".join(parts))
        return path

    return write


def payloads(segment):
    return [frame.payload for frame in segment.frames]


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]


def test_a_closed_segment_is_whole(segment):
    read = read_segment(segment(HEADER, *FRAMES, CLOSING))
    assert payloads(read) == [b"round-0", b"round-1", b"round-2"]
    assert (read.closed, read.torn) == (True, False)


def test_a_segment_killed_between_closing_and_truncating_is_closed(segment):
    assert read_segment(segment(HEADER, *FRAMES, CLOSING, bytes(100))).closed


def test_a_torn_tail_loses_only_the_last_frame(segment):
    for cut in range(1, len(FRAMES[2])):
        read = read_segment(segment(HEADER, FRAMES[0], FRAMES[1], FRAMES[2][:cut]))
        assert payloads(read) == [b"round-0", b"round-1"]
        assert (read.closed, read.torn) == (False, True)


def test_a_frame_whose_length_was_not_yet_written_is_a_torn_tail(segment):
    read = read_segment(segment(HEADER, FRAMES[0], bytes(4), FRAMES[1][4:], bytes(100)))
    assert payloads(read) == [b"round-0"]
    assert read.torn


def test_unwritten_space_is_not_torn(segment):
    read = read_segment(segment(HEADER, FRAMES[0], bytes(4096)))
    assert (len(read.frames), read.closed, read.torn) == (1, False, False)


@pytest.mark.parametrize("content", [b"", bytes(4096), bytes(8) + HEADER[8:]])
def test_a_segment_whose_header_is_not_yet_written_is_empty(segment, content):
    read = read_segment(segment(content))
    assert (read.frames, read.closed, read.damage) == ((), False, None)


@pytest.mark.parametrize("offset", range(len(FRAMES[1])))
def test_a_flipped_byte_anywhere_in_a_middle_frame_is_named_by_its_offset(segment, offset):
    path = segment(flipped(b"".join([HEADER, *FRAMES]), AT_SECOND + offset))
    with pytest.raises(DamagedError, match=rf"`{path}` is damaged at byte {AT_SECOND}") as caught:
        read_segment(path)
    assert "--skip-bad" in caught.value.hint
    assert payloads(scan_segment(path)) == [b"round-0"]


def test_a_flipped_byte_before_the_closing_frame_is_damage_not_a_torn_tail(segment):
    with pytest.raises(DamagedError):
        read_segment(segment(HEADER, *FRAMES[:2], flipped(FRAMES[2], 20), CLOSING))


def test_a_flipped_byte_in_the_closing_frame_loses_nothing(segment):
    read = read_segment(segment(HEADER, *FRAMES, flipped(CLOSING, 9)))
    assert (len(read.frames), read.torn) == (3, True)


@pytest.mark.parametrize("offset", [*range(8), *range(12, len(HEADER))])
def test_a_flipped_byte_in_the_header_is_damage(segment, offset):
    with pytest.raises(DamagedError, match="bad header at byte 0"):
        read_segment(segment(flipped(HEADER, offset), *FRAMES))


def test_another_file_is_no_segment(segment):
    with pytest.raises(DamagedError, match="is no spool segment"):
        read_segment(segment(b'{"prompt": "hello"}\n'))


def test_a_lost_frame_before_a_proper_close_is_damage(segment):
    with pytest.raises(DamagedError, match="was closed with 3 frames and holds 2"):
        read_segment(segment(HEADER, *FRAMES[:2], CLOSING))


def test_a_newer_format_says_so(segment):
    newer = HEADER[:8] + struct.pack("<I", 2) + b"whatever a later version puts here"
    with pytest.raises(UsageError, match="spool format 2; this specprof reads up to 1"):
        read_segment(segment(newer))


def test_a_writer_that_appends_while_we_read_is_not_damage(tmp_path, monkeypatch, identity, three_of_five):
    """The first look catches an early page before, and a late page after the same append."""
    writer = SpoolWriter(tmp_path, "w")
    writer.begin(1, identity(1))
    path = tmp_path / "w-00000.seg"
    before = path.read_bytes()
    writer.round(1, three_of_five)
    writer.round(1, three_of_five)
    after = path.read_bytes()
    gap = before.rstrip(b"\0").__len__() + 80
    looks = iter([before[:gap] + after[gap:], after, after])
    monkeypatch.setattr(type(path), "read_bytes", lambda _: next(looks))
    (request,) = read_requests([read_segment(path)])
    assert len(request.rounds) == 2
    writer.close()
