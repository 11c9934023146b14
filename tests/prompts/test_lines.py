import gzip
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from specprof.errors import BadRecordError, UsageError
from specprof.prompts.lines import lines, parse, shown


def written(folder: Path, content: bytes, name: str = "a.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_lines_are_numbered_from_one_and_blank_lines_are_left_out(tmp_path):
    path = written(tmp_path, b"{}\n\n  \n[1]")
    assert list(lines(path)) == [(f"{path}:1", b"{}"), (f"{path}:4", b"[1]")]


def test_a_byte_order_mark_and_crlf_are_no_part_of_a_line(tmp_path):
    path = written(tmp_path, b'\xef\xbb\xbf{"a": 1}\r\n{"b": 2}\r\n')
    assert [line for _, line in lines(path)] == [b'{"a": 1}', b'{"b": 2}']


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c"])
def test_a_unicode_line_separator_inside_a_string_ends_no_line(tmp_path, separator):
    path = written(tmp_path, json.dumps({"prompt": f"a{separator}b"}, ensure_ascii=False).encode() + b"\n")
    ((place, line),) = lines(path)
    assert parse(place, line) == {"prompt": f"a{separator}b"}


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl"])
def test_gzip_is_recognised_by_name_or_by_content(tmp_path, name):
    path = written(tmp_path, gzip.compress(b"{}\n{}\n", mtime=0), name)
    assert [place for place, _ in lines(path)] == [f"{path}:1", f"{path}:2"]


@pytest.mark.parametrize("content", [b"{}\n", gzip.compress(b"{}\n", mtime=0)])
def test_a_dash_is_standard_input_zipped_or_not(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    assert list(lines("-")) == [("stdin:1", b"{}")]


@pytest.mark.parametrize(
    "damaged",
    [b'{"prompt": "x"}\n', gzip.compress(b"{}\n" * 99, mtime=0)[:-9], gzip.compress(b"x", mtime=0)[:-8] + b"\0" * 8],
)
def test_broken_gzip_is_named(tmp_path, damaged):
    path = written(tmp_path, damaged, "a.jsonl.gz")
    with pytest.raises(UsageError, match=r"a\.jsonl\.gz` is no whole gzip file") as caught:
        list(lines(path))
    assert caught.value.hint == f"test it with `gzip -t {path}`"


@pytest.mark.parametrize("content", [b"", b"\n\r\n  \n", b"\xef\xbb\xbf"])
def test_a_file_without_a_record_is_empty(tmp_path, content):
    with pytest.raises(BadRecordError, match="` is empty"):
        list(lines(written(tmp_path, content)))


def test_a_missing_file_is_named_with_its_near_neighbour(tmp_path):
    written(tmp_path, b"{}", "prompts.jsonl")
    with pytest.raises(UsageError, match=r"promts\.jsonl` does not exist") as caught:
        list(lines(tmp_path / "promts.jsonl"))
    assert caught.value.hint == "did you mean `prompts.jsonl`?"


def test_a_missing_folder_gives_no_hint(tmp_path):
    with pytest.raises(UsageError, match="does not exist") as caught:
        list(lines(tmp_path / "none" / "a.jsonl"))
    assert caught.value.hint is None


def test_what_the_system_refuses_to_read_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        list(lines(tmp_path))


def test_a_line_of_5_mb_is_read(tmp_path):
    text = "x" * 5_000_000
    ((place, line),) = lines(written(tmp_path, json.dumps({"prompt": text}).encode()))
    assert parse(place, line)["prompt"] == text


def test_invalid_utf8_is_named_with_its_byte_and_offset():
    with pytest.raises(BadRecordError, match="`a:7` is not UTF-8: byte 0xff at offset 12 of the line"):
        parse("a:7", b'{"prompt": "\xff"}')


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"prompt": }', "is not JSON: Expecting value at column 12"),
        (b"[" * 100_000, "is not JSON that can be read: maximum recursion"),
        (b"1" * 5_000, "is not JSON that can be read: Exceeds the limit"),
        (b'"text"', 'is not a JSON object: "text"'),
        (b"null", "is not a JSON object: null"),
        (rb'{"prompt": "\ud83d"}', "holds half of a surrogate pair"),
    ],
)
def test_a_line_that_is_no_json_object_of_whole_characters_is_refused(line, problem):
    with pytest.raises(BadRecordError, match=f"`a:1` {problem}"):
        parse("a:1", line)


def test_a_whole_surrogate_pair_is_one_character():
    assert parse("a:1", rb'{"prompt": "\ud83d\ude00"}') == {"prompt": "😀"}


def test_a_long_value_is_shortened_in_a_message():
    assert shown("y" * 100) == '"' + "y" * 58 + "…"
    assert shown([1, "é"]) == '[1, "é"]'
