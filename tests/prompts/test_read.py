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
    counts = {
        "count": 1,
        "conversations": 1,
        "not_obeyed": {},
        "answers_left_out": 0,
        "layouts": {"messages": 1},
        "templates": {"chat": 1},
        "skipped": 1,
    }
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


def test_the_turns_of_a_benchmark_question_follow_each_other(tmp_path):
    record = {"question_id": 81, "category": "writing", "turns": ["a", "b", "c"], "reference": ["r"]}
    found = read_prompts([written(tmp_path / "q.jsonl", record, {"prompt": "x"})])
    *turns, other = found.prompts
    assert [(p.id, p.turn, p.follows) for p in turns] == [
        ("81/0", 0, None),
        ("81/1", 1, "81/0"),
        ("81/2", 2, "81/1"),
    ]
    assert [p.messages for p in turns] == [({"role": "user", "content": text},) for text in "abc"]
    assert {(p.conversation_id, p.task, p.place) for p in turns} == {("81", "writing", f"{tmp_path}/q.jsonl:1")}
    assert (other.conversation_id, other.turn, other.follows) == (None, None, None)


def test_the_turns_of_a_recorded_conversation_hold_their_history_and_follow_nothing(tmp_path):
    record = {"id": "c", "conversations": [{"from": s, "value": v} for s, v in (("human", "a"), ("gpt", "b")) * 2]}
    first, second = read_prompts([written(tmp_path / "q.jsonl", record)]).prompts
    assert [m["content"] for m in second.messages] == ["a", "b", "a"]
    assert [(p.id, p.conversation_id, p.turn, p.follows) for p in (first, second)] == [
        ("c/0", "c", 0, None),
        ("c/1", "c", 1, None),
    ]


def test_conversations_without_ids_are_named_by_all_that_is_said_in_them(tmp_path):
    rows = [{"turns": ["a", "b"]}, {"turns": ["a", "c"]}, {"turns": ["a", "b"]}, {"turns": ["a"]}]
    ids = [p.id.removesuffix("/0") for p in read_prompts([written(tmp_path / "q.jsonl", *rows)]).prompts]
    one, other, again, short = ids[0], ids[2], ids[4], ids[6]
    assert again == f"{one}-2"
    assert len({one, other, short}) == 3


def test_a_conversation_has_one_task_by_the_rules_for_its_first_turn(tmp_path):
    path = written(tmp_path / "q.jsonl", {"turns": ["write code", "now a poem"]}, {"turns": ["poem", "code"]})
    rules = [(re.compile("code"), "code"), (re.compile("poem"), "poem")]
    assert tasks(read_prompts([path], rules=rules)) == ["code", "code", "poem", "poem"]


def test_a_limit_counts_conversations_and_tears_none_apart(tmp_path):
    rows = [{"question_id": n, "category": "math", "turns": ["a", "b"]} for n in range(3)]
    rows += [{"id": f"p{n}", "task": "qa", "prompt": f"{n}", "conversation_id": f"c{n // 2}"} for n in range(5)]
    found = read_prompts([written(tmp_path / "q.jsonl", *rows)], limit=2)
    assert [p.id for p in found.prompts] == ["0/0", "0/1", "1/0", "1/1", "p0", "p1", "p2", "p3"]


def test_a_turn_that_follows_another_has_another_hash_than_one_that_stands_alone(tmp_path):
    turns = read_prompts([written(tmp_path / "a.jsonl", {"question_id": "c", "turns": ["a", "b"]})])
    alone = [
        {"id": f"c/{n}", "conversation_id": "c", "turn": n, "messages": [{"role": "user", "content": text}]}
        for n, text in enumerate("ab")
    ]
    flat = read_prompts([written(tmp_path / "b/a.jsonl", *alone)])
    assert [(p.id, p.messages, p.turn) for p in turns.prompts] == [(p.id, p.messages, p.turn) for p in flat.prompts]
    assert turns.sha256 != flat.sha256


def test_a_named_field_and_its_task_field_read_an_export(tmp_path):
    rows = [
        {"example": {"question": "Why?"}, "subject": "physics", "label": 3},
        {"example": {"question": "x"}, "subject": 7},
    ]
    found = read_prompts([written(tmp_path / "a.jsonl", *rows)], field="example.question", task_field="subject")
    assert [(p.text, p.task) for p in found.prompts] == [("Why?", "physics"), ("x", "7")]
    assert found.layouts == {"--field": 2}


def test_an_export_with_labels_of_its_own_kind_is_read(tmp_path):
    path = written(tmp_path / "a.jsonl", {"question": "x", "labels": 3})
    (prompt,) = read_prompts([path], field="question").prompts
    assert prompt.labels == {}


@pytest.mark.parametrize("value", [{}, {"subject": None}, {"subject": ["a"]}])
def test_a_record_without_the_named_task_is_refused(tmp_path, value):
    path = written(tmp_path / "a.jsonl", {"prompt": "x", **value})
    with pytest.raises(BadRecordError, match=r'"subject"'):
        read_prompts([path], task_field="subject")


def test_a_repeated_question_is_refused_whole(tmp_path):
    path = written(tmp_path / "a.jsonl", {"id": "1/1", "prompt": "x"}, {"question_id": 1, "turns": ["a", "b"]})
    found = read_prompts([path], skip_bad=True)
    assert [p.id for p in found.prompts] == ["1/1"]
    assert found.skipped == (f'`{path}:2` repeats the id "1/1" of `{path}:1`',)


def test_the_length_of_an_answer_is_the_records_own_or_its_layouts(tmp_path):
    body = {"prompt": "x", "max_tokens": 5, "temperature": 1}
    rows = [{"custom_id": "a", "body": body}, {"custom_id": "b", "body": body, "output_tokens": 3}]
    found = read_prompts([written(tmp_path / "a.jsonl", *rows)])
    assert [p.output_tokens for p in found.prompts] == [5, 3]
    assert found.not_obeyed == {"temperature": 2}


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


@pytest.mark.parametrize(
    "named",
    [{"prompt": "x", "conversation_id": "7"}, {"id": "7", "conversations": [{"from": "human", "value": "x"}]}],
)
def test_a_conversation_that_one_record_holds_shares_its_name_with_none(tmp_path, named):
    whole = {"question_id": 7, "turns": ["a", "b"]}
    files = [
        written(tmp_path / "one.jsonl", named | {"task": "t"}),
        written(tmp_path / "two.jsonl", whole),
    ]
    for order in (files, files[::-1]):
        with pytest.raises(BadRecordError, match="repeats"):
            read_prompts(order)
        assert len(read_prompts(order, skip_bad=True).skipped) == 1


@pytest.mark.parametrize("record", [{"prompt": "x"}, {"turns": ["x", "y"]}, {"messages": CHAT["messages"]}])
def test_what_says_the_same_is_one_cluster_whatever_it_is_called(tmp_path, record):
    files = [
        written(tmp_path / f"{name}.jsonl", {**record, **more}, {"prompt": f"{name} other"})
        for name, more in (("a", {}), ("b", {}), ("c", {"id": "own", "task": "t"}))
    ]
    found = read_prompts(files)
    assert found.conversations == 1 + 3
    assert found.sha256 == read_prompts(files[::-1]).sha256
    same = {p.conversation_id for p in found.prompts if "other" not in (p.text or "")}
    assert len(same) == 1
    assert None not in same


def test_conversations_that_share_a_turn_only_stay_apart(tmp_path):
    path = written(tmp_path / "a.jsonl", {"turns": ["x", "y"]}, {"turns": ["x", "z"]})
    assert read_prompts([path]).conversations == 2


@pytest.mark.parametrize("task", ["", " ", "a\nb"])
def test_a_task_that_no_record_could_have_is_refused(tmp_path, task):
    path = written(tmp_path / "a.jsonl", {"prompt": "x"})
    for how in ({"task": task}, {"rules": [(re.compile("x"), task)]}):
        with pytest.raises(UsageError, match="a task cannot be called"):
            read_prompts([path], **how)


def test_standard_input_is_named_once(tmp_path):
    with pytest.raises(UsageError, match="only once"):
        read_prompts(["-", "-"])


def test_an_index_of_thousands_of_digits_is_just_not_there(tmp_path):
    path = written(tmp_path / "a.jsonl", {"turns": ["x"]})
    with pytest.raises(BadRecordError, match="has no"):
        read_prompts([path], field=f"turns.{'9' * 5000}")


def test_chats_that_lose_their_answers_are_counted(tmp_path):
    answered = {"messages": [*CHAT["messages"], {"role": "assistant", "content": "Hello"}]}
    found = read_prompts([written(tmp_path / "a.jsonl", answered, CHAT)])
    assert (found.answered, found.summary()["answers_left_out"]) == (1, 1)
