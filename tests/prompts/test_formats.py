import gzip
import io
import sys
from types import SimpleNamespace

import pytest

from specprof.errors import BadRecordError
from specprof.prompts.formats import records


def contents(source):
    return [record for _, record in records(source)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b'{"prompt": "x"}\n{"prompt": "y"}\n'),
        ("a.json", b'{"prompt": "x"}\n{"prompt": "y"}\n'),
        ("a.json", b'[{"prompt": "x"}, {"prompt": "y"}]'),
        ("a.jsonl", b'\xef\xbb\xbf\n [\n{"prompt": "x"},\n{"prompt": "y"}]'),
        ("a.csv", b"prompt\nx\ny\n"),
    ],
)
def test_the_kind_of_a_file_shows_in_its_name_and_its_first_bytes(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content, mtime=0))
    expected = [{"prompt": "x"}, {"prompt": "y"}]
    assert contents(tmp_path / name) == contents(tmp_path / f"{name}.gz") == expected


@pytest.mark.parametrize("content", [b'{"prompt": "x"}', b'[{"prompt": "x"}]'])
def test_standard_input_may_hold_lines_or_an_array(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    assert list(records("-")) == [("stdin:1", {"prompt": "x"})]


def test_a_bad_line_of_text_comes_as_its_error(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x\n\xff\ny\n")
    _, bad, last = contents(tmp_path / "a.txt")
    assert isinstance(bad, BadRecordError)
    assert str(bad) == f"`{tmp_path}/a.txt:2` is not UTF-8: byte 0xff at offset 0 of the line"
    assert last == {"plain text": "y"}


def test_a_line_of_a_text_file_is_a_prompt_and_blank_lines_are_none(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b'x\n\n{"not": "json"}\r\n', mtime=0))
    assert contents(tmp_path / "a.txt.gz") == [{"plain text": "x"}, {"plain text": '{"not": "json"}'}]
