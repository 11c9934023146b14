import gzip
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specprof.errors import BadRecordError, UsageError
from specprof.importers import read_native


def record(id: str, response: int = 10, **more: Any) -> dict[str, Any]:
    lists = {"drafted": [5, 5], "accepted": [3, 5]}
    return {"request_id": id, "task": "code", "prompt_tokens": 9, "response_tokens": response} | lists | more


def written(folder: Path, *records: Any) -> Path:
    path = folder / "rounds.jsonl"
    path.write_text("".join(f"{r if isinstance(r, str) else json.dumps(r)}\n" for r in records))
    return path


def test_requests_come_in_the_order_of_lines(tmp_path):
    imported = read_native(written(tmp_path, record("b"), "", record("a")))
    assert [request.request_id for request in imported.requests] == ["b", "a"]
    assert (imported.skipped, imported.unbalanced) == ((), 0)


def test_gzip_and_standard_input_are_read(tmp_path, monkeypatch):
    line = json.dumps(record("a")).encode()
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(line))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(line)))
    assert read_native(tmp_path / "a.jsonl.gz") == read_native("-")


def test_unbalanced_requests_are_counted_and_kept(tmp_path):
    plain = record("d", 40, arm="baseline", drafted=[], accepted=[])
    from_nowhere = record("e", 40, drafted=[], accepted=[])
    path = written(tmp_path, record("a"), record("cut", 8), record("b", 3), record("c", 11), plain, from_nowhere)
    imported = read_native(path)
    assert (len(imported.requests), imported.unbalanced) == (6, 3)


def test_one_bad_record_refuses_the_file(tmp_path):
    path = written(tmp_path, record("a"), record("b", accepted=[3]))
    with pytest.raises(BadRecordError) as caught:
        read_native(path)
    assert str(caught.value) == f'`{path}:2` has 1 entries in "accepted" but 2 in "drafted"'
    assert "`--skip-bad`" in (caught.value.hint or "")


def test_the_first_ten_problems_are_listed_with_their_lines(tmp_path):
    path = written(tmp_path, record("a"), *["{"] * 11, record("b", prompt_tokens=True))
    with pytest.raises(UsageError) as caught:
        read_native(path)
    head, *listed, rest = str(caught.value).splitlines()
    assert head == f"12 records of `{path}` are wrong, nothing was imported:"
    assert [line.split("`")[1] for line in listed] == [f"{path}:{number}" for number in range(2, 12)]
    assert rest.strip() == "and 2 more"


def test_skipped_records_are_listed_and_the_others_imported(tmp_path):
    path = written(tmp_path, record("a"), "[]", record("b", accepted=[9, 9]), record("c"))
    imported = read_native(path, skip_bad=True)
    assert [request.request_id for request in imported.requests] == ["a", "c"]
    assert [sentence.split("`")[1] for sentence in imported.skipped] == [f"{path}:2", f"{path}:3"]


def test_a_repeated_request_id_is_refused_with_both_lines(tmp_path):
    path = written(tmp_path, record("a"), record("b"), record("a"))
    with pytest.raises(BadRecordError) as caught:
        read_native(path)
    assert str(caught.value) == f'`{path}:3` repeats the request_id "a" of `{path}:1`'
    assert len(read_native(path, skip_bad=True).requests) == 2


def test_a_file_without_a_usable_record_is_refused_even_when_bad_ones_are_skipped(tmp_path):
    with pytest.raises(UsageError, match=r"2 records of .* are wrong, nothing was imported"):
        read_native(written(tmp_path, "{", "[]"), skip_bad=True)
    with pytest.raises(UsageError, match="is empty"):
        read_native(written(tmp_path), skip_bad=True)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match="does not exist"):
        read_native(tmp_path / "none.jsonl")


def test_answers_to_one_prompt_are_numbered_where_the_records_do_not(tmp_path):
    record = {"task": "t", "prompt_tokens": 1, "response_tokens": 2, "drafted": [1], "accepted": [1], "prompt_id": "p"}
    lines = [record | {"request_id": name} for name in "abc"] + [record | {"request_id": "d", "sample": 7}]
    lines[1:1] = [record | {"request_id": "w", "phase": "warmup"}]  # a warm-up is no answer
    lines[2]["sample"] = None
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    samples = {request.request_id: request.sample for request in read_native(tmp_path / "a.jsonl").requests}
    assert samples == {"a": 0, "w": 0, "b": 1, "c": 2, "d": 7}


def test_a_response_of_nothing_but_a_first_token_is_counted_as_unbalanced(tmp_path):
    record = {"request_id": "a", "task": "t", "prompt_tokens": 1, "response_tokens": 0, "first_tokens": 1}
    (tmp_path / "a.jsonl").write_text(json.dumps(record | {"drafted": [], "accepted": []}))
    assert read_native(tmp_path / "a.jsonl").unbalanced == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [("request_id", "a\x1b[2J"), ("task", "a\nb"), ("labels", {"x": "\x1b[31m"}), ("width", [70_000])],
)
def test_what_would_garble_a_terminal_or_a_sum_is_refused(tmp_path, field, value):
    record = {"request_id": "a", "task": "t", "prompt_tokens": 1, "response_tokens": 2, "drafted": [1], "accepted": [1]}
    (tmp_path / "a.jsonl").write_text(json.dumps(record | {field: value}))
    with pytest.raises(BadRecordError, match=r"a\.jsonl:1"):
        read_native(tmp_path / "a.jsonl")
