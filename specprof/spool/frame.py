"""Bytes of a segment file: one header, then frames, each starting at a multiple of four bytes.

    header   magic 8 | version u32 | pid u32 | opened_ns u64 | sequence u32 | writer length u32 | writer | pad | crc32
    frame    payload length u32 | crc32 | key u64 | kind u8 | mark 3 | payload | pad

All little-endian. A length of zero is space not yet written. A frame's crc starts from its length, so that the length
is covered too. The mark lets a reader look for frames behind a damaged one.
"""

import struct
from dataclasses import dataclass
from typing import NamedTuple, Self
from zlib import crc32

MAGIC = b"SPECSPL\n"
VERSION = 1
BEGIN, ROUND, END, CLOSE = range(1, 5)
COUNT = struct.Struct("<I")  # payload of the closing frame: frames before it

_MARK = b"\xf5\xb7\xc1"
_WORDS = struct.Struct("<II")
_BODY = struct.Struct("<QB3s")
_FRAME = struct.Struct("<IIQB3s")
_HEADER = struct.Struct("<8sIIQII")
_CRC = struct.Struct("<I")
_PAD = (b"", b"\0\0\0", b"\0\0", b"\0")  # by length modulo 4
CLOSE_BYTES = _FRAME.size + COUNT.size


class Frame(NamedTuple):
    kind: int
    key: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Header:
    """`opened_ns` and `pid` tell one life of a writer from the next; `sequence` orders its segments."""

    writer: str
    opened_ns: int
    pid: int
    sequence: int

    def pack(self) -> bytes:
        name = self.writer.encode()
        fixed = _HEADER.pack(MAGIC, VERSION, self.pid, self.opened_ns, self.sequence, len(name))
        body = fixed + name + _PAD[len(name) & 3]
        return body + _CRC.pack(crc32(body))

    @classmethod
    def unpack(cls, data: bytes) -> tuple[Self, int] | None:
        """The header and where the frames start; None if it is damaged."""
        if len(data) < _HEADER.size:
            return None
        magic, _, pid, opened_ns, sequence, length = _HEADER.unpack_from(data)
        end = _HEADER.size + length + (-length & 3)
        if magic != MAGIC or end + _CRC.size > len(data) or _CRC.unpack_from(data, end)[0] != crc32(data[:end]):
            return None
        return cls(data[_HEADER.size : _HEADER.size + length].decode(), opened_ns, pid, sequence), end + _CRC.size


def version_of(data: bytes) -> int | None:
    """The format version of a spool segment; None where the file is none. It stands at byte 8 in every version."""
    return _CRC.unpack_from(data, 8)[0] if data.startswith(MAGIC) and len(data) >= 12 else None


def pack(kind: int, key: int, payload: bytes) -> bytes:
    length = len(payload)
    body = _BODY.pack(key, kind, _MARK) + payload + _PAD[length & 3]
    return _WORDS.pack(length, crc32(body, length)) + body


def frame_at(data: bytes, at: int) -> tuple[Frame, int] | None:
    """The frame that starts at byte `at` and where the next one starts; None if no whole frame is there."""
    if at + _FRAME.size > len(data):
        return None
    length, crc, key, kind, mark = _FRAME.unpack_from(data, at)
    start = at + _FRAME.size
    end = start + length + (-length & 3)
    if length == 0 or mark != _MARK or end > len(data) or crc32(data[at + _WORDS.size : end], length) != crc:
        return None
    return Frame(kind, key, data[start : start + length]), end


def frame_after(data: bytes, at: int) -> bool:
    """Whether a whole frame starts anywhere behind byte `at`."""
    offset = _FRAME.size - len(_MARK)
    mark = data.find(_MARK, at + offset + 1)
    while mark >= 0 and frame_at(data, mark - offset) is None:
        mark = data.find(_MARK, mark + 1)
    return mark >= 0
