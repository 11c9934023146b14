from zlib import crc32

from hypothesis import given
from hypothesis import strategies as st

from specprof.spool.frame import ROUND, Frame, Header, frame_after, frame_at, pack, version_of


def test_a_frame_has_the_bytes_that_the_format_says():
    body = (7).to_bytes(8, "little") + bytes([ROUND]) + b"\xf5\xb7\xc1" + b"abcde" + b"\0\0\0"
    expected = (5).to_bytes(4, "little") + crc32(body, 5).to_bytes(4, "little") + body
    assert pack(ROUND, 7, b"abcde") == expected


@given(st.binary(min_size=1, max_size=40), st.integers(0, 2**64 - 1), st.binary(max_size=9))
def test_a_frame_is_read_back_whatever_follows_it(payload, key, rest):
    data = pack(ROUND, key, payload)
    assert frame_at(data + rest, 0) == (Frame(ROUND, key, payload), len(data))
    assert len(data) % 4 == 0


@given(st.binary(min_size=1, max_size=12), st.data())
def test_no_flipped_bit_in_a_frame_goes_unseen(payload, data):
    frame = bytearray(pack(ROUND, 3, payload))
    bit = data.draw(st.integers(0, 8 * len(frame) - 1))
    frame[bit // 8] ^= 1 << bit % 8
    assert frame_at(bytes(frame) + bytes(64), 0) is None


def test_a_frame_is_found_behind_rubbish():
    assert frame_after(b"\xf5\xb7\xc1 rubbish!! " + pack(ROUND, 1, b"x"), 0)
    assert not frame_after(pack(ROUND, 1, b"x"), 0)


@given(st.text("abc-._09", min_size=1, max_size=9), st.integers(0, 2**64 - 1), st.integers(0, 2**31))
def test_a_header_is_read_back(writer, opened_ns, sequence):
    header = Header(writer, opened_ns, 42, sequence)
    assert Header.unpack(header.pack() + b"more") == (header, len(header.pack()))


@given(st.data())
def test_no_flipped_bit_in_a_header_goes_unseen(data):
    header = bytearray(Header("w-1", 5, 6, 7).pack())
    bit = data.draw(st.integers(0, 8 * len(header) - 1))
    header[bit // 8] ^= 1 << bit % 8
    assert Header.unpack(bytes(header)) is None or version_of(bytes(header)) != 1
