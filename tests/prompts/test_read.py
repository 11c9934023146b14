import gzip
import hashlib
import io
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specprof.errors import BadRecordError, UsageError
from specprof.prompts import read_prompts

CHAT = {"messages": [{"role": "user", "content": "Hi"}]}


def written(path: Path, *records: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def tasks(found) -> list[str]:
    return [prompt.task for prompt in found.prompts]


def test_every_field_of_a_record_reaches_its_prompt(tmp_path):
    extras = {"id": 7, "task": "qa", "output_tokens": 5, "labels": {"language": "ko"}, "conversation_id": 3, "turn": 1}
    path = written(tmp_path / "a.jsonl", {"prompt": "안녕", **extras, "unknown": [1]})
    (prompt,) = read_prompts([path]).prompts
    assert (prompt.id, prompt.task, prompt.text, prompt.messages) == ("7", "qa", "안녕", None)
    assert (prompt.output_tokens, prompt.labels) == (5, {"language": "ko"})
    assert (prompt.conversation_id, prompt.turn, prompt.place) == ("3", 1, f"{path}:1")


def test_raw_and_chat_records_may_share_a_file_and_are_counted(tmp_path):
    found = read_prompts([written(tmp_path / "a.jsonl", {"prompt": "x"}, CHAT, {"prompt": "y"})])
    assert [prompt.template for prompt in found.prompts] == ["raw", "chat", "raw"]
    assert found.templates == {"raw": 2, "chat": 1}
    assert found.layouts == {"prompt": 2, "messages": 1}


def test_the_summary_is_json_and_says_what_was_read(tmp_path):
    found = read_prompts([written(tmp_path / "a.jsonl", CHAT, "{")], skip_bad=True)
    counts = {"count": 1, "layouts": {"messages": 1}, "templates": {"chat": 1}, "skipped": 1}
    assert json.loads(json.dumps(found.summary())) == {"sha256": found.sha256} | counts


def test_the_task_is_the_records_then_the_one_given_then_the_files_name(tmp_path):
    path = written(tmp_path / "code.jsonl", {"prompt": "x", "task": "own"}, {"prompt": "y"})
    assert tasks(read_prompts([path])) == ["own", "code"]
    assert tasks(read_prompts([path], task="given")) == ["own", "given"]


def test_a_given_task_goes_before_the_rules_and_the_rules_before_the_files_name(tmp_path):
    path = written(tmp_path / "code.jsonl", {"prompt": "x"})
    rules = [(re.compile("x"), "ruled")]
    assert tasks(read_prompts([path], rules=rules)) == ["ruled"]
    assert tasks(read_prompts([path], rules=rules, task="given")) == ["given"]


def test_the_first_rule_found_anywhere_in_the_text_gives_the_task(tmp_path):
    path = written(tmp_path / "a.jsonl", {"prompt": "please summarise"}, CHAT, {"prompt": "none"})
    rules = [(re.compile("summarise$"), "summary"), (re.compile("please"), "polite"), (re.compile("^Hi"), "chat")]
    assert tasks(read_prompts([path], rules=rules)) == ["summary", "chat", "a"]


def test_standard_input_has_the_default_task(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b'{"prompt": "x"}')))
    (prompt,) = read_prompts(["-"]).prompts
    assert (prompt.task, prompt.place) == ("default", "stdin:1")


def test_a_folder_gives_one_task_per_file(tmp_path):
    written(tmp_path / "code.jsonl", {"prompt": "x"})
    (tmp_path / "chat.jsonl.gz").write_bytes(gzip.compress(json.dumps(CHAT).encode()))
    assert tasks(read_prompts([tmp_path])) == ["chat", "code"]


def test_a_prompt_without_id_is_named_by_its_task_and_text(tmp_path):
    (prompt,) = read_prompts([written(tmp_path / "code.jsonl", {"prompt": "x"})]).prompts
    assert prompt.id == hashlib.sha256(b'["code", "x", null]').hexdigest()[:12]


def test_equal_prompts_without_ids_are_numbered(tmp_path):
    path = written(
        tmp_path / "a.jsonl", {"prompt": "x"}, {"prompt": "x"}, {"prompt": "x"}, {"prompt": "x", "task": "b"}
    )
    first, second, third, other = (prompt.id for prompt in read_prompts([path]).prompts)
    assert (second, third) == (f"{first}-2", f"{first}-3")
    assert other[:12] != first


def test_a_repeated_id_is_refused_with_both_places(tmp_path):
    one, two = written(tmp_path / "a.jsonl", {"id": 1, "prompt": "x"}), tmp_path / "b.jsonl"
    written(two, {"prompt": "y"}, {"id": "1", "prompt": "z"})
    with pytest.raises(BadRecordError) as caught:
        read_prompts([one, two])
    assert str(caught.value) == f'`{two}:2` repeats the id "1" of `{one}:1`'


def test_moving_and_reordering_files_changes_neither_ids_nor_hash(tmp_path):
    a = [{"prompt": "x"}, {"id": "n", **CHAT}]
    here = read_prompts([written(tmp_path / "1/a.jsonl", *a), written(tmp_path / "1/b.jsonl", {"prompt": "y"})])
    there = read_prompts([written(tmp_path / "2/b.jsonl", {"prompt": "y"}), written(tmp_path / "2/a.jsonl", *a)])
    assert {p.id for p in here.prompts} == {p.id for p in there.prompts}
    assert here.sha256 == there.sha256


@pytest.mark.parametrize(
    "change",
    [
        {"id": "2"},
        {"task": "u"},
        {"prompt": "y"},
        {"output_tokens": 9},
        {"labels": {"language": "ko"}},
        {"conversation_id": "d"},
        {"turn": 2},
    ],
)
def test_whatever_matters_changes_the_hash(tmp_path, change):
    record = {
        "id": "1",
        "task": "t",
        "prompt": "x",
        "output_tokens": 8,
        "labels": {},
        "conversation_id": "c",
        "turn": 1,
    }
    before = read_prompts([written(tmp_path / "a.jsonl", record)]).sha256
    assert read_prompts([written(tmp_path / "b.jsonl", record | change)]).sha256 != before
    assert read_prompts([written(tmp_path / "c.jsonl", record | {"ignored": 1})]).sha256 == before


def test_a_limit_keeps_the_first_of_every_task_and_hashes_only_those(tmp_path):
    records = [{"id": f"{task}{n}", "task": task, "prompt": f"{n}"} for n in range(3) for task in "ab"]
    found = read_prompts([written(tmp_path / "all.jsonl", *records)], limit=2)
    assert [prompt.id for prompt in found.prompts] == ["a0", "b0", "a1", "b1"]
    assert found.layouts == {"prompt": 4}
    assert found.sha256 == read_prompts([written(tmp_path / "four.jsonl", *records[:4])]).sha256


def test_one_bad_record_stops_the_reading(tmp_path):
    path = written(tmp_path / "a.jsonl", {"prompt": "x"}, {"prompt": ""})
    with pytest.raises(BadRecordError, match=re.escape(f"`{path}:2` has an empty")):
        read_prompts([path])


def test_skipped_records_are_listed_and_the_others_kept(tmp_path):
    path = written(
        tmp_path / "a.jsonl", {"id": 1, "prompt": "x"}, "{", {"id": 1, "prompt": "y"}, {"promt": "z"}, {"prompt": "w"}
    )
    empty = written(tmp_path / "b.jsonl")
    found = read_prompts([path, empty], skip_bad=True)
    assert [prompt.text for prompt in found.prompts] == ["x", "w"]
    places = [f"{path}:2", f"{path}:3", f"{path}:4", f"{empty}"]
    assert [sentence.split("`")[1] for sentence in found.skipped] == places


def test_an_empty_file_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match=r"empty\.jsonl` is empty"):
        read_prompts([written(tmp_path / "empty.jsonl")])


def test_no_usable_record_is_a_usage_error_even_when_bad_ones_are_skipped(tmp_path):
    path = written(tmp_path / "a.jsonl", "{", "[]")
    with pytest.raises(UsageError, match=f"no usable record in `{path}`: `{path}:1` is not JSON"):
        read_prompts([path], skip_bad=True)
    with pytest.raises(UsageError, match="no prompts given"):
        read_prompts([])


def test_a_missing_path_stops_the_reading_even_when_bad_records_are_skipped(tmp_path):
    with pytest.raises(UsageError, match="does not exist"):
        read_prompts([tmp_path / "none.jsonl"], skip_bad=True)


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip), min_size=1, max_size=8))
def test_any_texts_come_back_in_order_with_unique_ids(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("any") / "a.jsonl"
    path.write_bytes(b"\n".join(json.dumps({"prompt": t}, ensure_ascii=False).encode() for t in texts))
    found = read_prompts([path])
    assert [prompt.text for prompt in found.prompts] == texts
    assert len({prompt.id for prompt in found.prompts}) == len(texts)
