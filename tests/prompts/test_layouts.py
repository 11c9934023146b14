from datetime import datetime

import pytest

from specprof.errors import BadRecordError
from specprof.prompts.content import Content, Entry
from specprof.prompts.layouts import find, recognise

USER = {"role": "user", "content": "Hi"}
LAYOUTS = '"prompt", "messages", "turns" nor "conversations"'


def test_a_prompt_is_raw_text_kept_as_it_is():
    assert recognise({"prompt": " def f():\n"}, "a:1") == ("prompt", Entry((Content(text=" def f():\n"),)))


def test_messages_are_a_chat_of_roles_and_texts():
    system = {"role": "system", "content": ""}
    record = {"messages": [system | {"name": "s"}, USER | {"at": datetime(2026, 1, 1), "raw": b"Hi"}]}
    layout, entry = recognise(record, "a:1")
    assert (layout, entry) == ("messages", Entry((Content(messages=(system, USER)),)))


def test_the_answer_at_the_end_of_a_chat_is_no_part_of_the_prompt():
    answer = {"role": "assistant", "content": "Hello"}
    cut = Content(messages=(USER, answer, USER), answered=True)
    said = [USER, answer, USER, answer]
    for record in ({"messages": said}, {"custom_id": "a", "body": {"input": said}}):
        assert recognise(record, "a:1")[1].contents == (cut,)
    assert recognise({"x": [USER, answer]}, "a:1", "x")[1].contents == (Content(messages=(USER,), answered=True),)
    assert not recognise({"messages": [USER, answer, USER]}, "a:1")[1].contents[0].answered


def test_task_rules_see_the_text_of_every_message():
    chat = Content(messages=({"role": "system", "content": "Translate."}, USER))
    assert (chat.searchable, Content(text="x").searchable) == ("Translate.\nHi", "x")


def test_a_question_id_brings_its_category_and_without_one_a_category_is_any_field():
    _, entry = recognise({"question_id": 7, "category": "math", "prompt": "x"}, "a:1")
    assert (entry.id, entry.task) == ("7", "math")
    _, entry = recognise({"category": 3, "prompt": "x"}, "a:1")
    assert (entry.id, entry.task) == (None, None)


@pytest.mark.parametrize(
    ("record", "layout"),
    [
        ({"turns": ["x"], "question_id": 1, "category": "qa"}, "Spec-Bench"),
        ({"turns": ["x"], "sub_category": "s"}, "SPEED-Bench"),
        ({"turns": ["x"], "multiturn": False}, "SPEED-Bench"),
        ({"conversations": [{"from": "human", "value": "x"}]}, "ShareGPT"),
        ({"custom_id": "a", "body": {"prompt": "x"}}, "OpenAI batch"),
        ({"prompt": "x", "body": "of a mail"}, "prompt"),
    ],
)
def test_a_layout_is_recognised_by_its_keys(record, layout):
    assert recognise(record, "a:1")[0] == layout


@pytest.mark.parametrize(
    ("path", "value"),
    [("question", "q"), ("example.question", "e"), ("a.b", "dotted"), ("turns.1.text", "second")],
)
def test_a_field_is_a_key_or_a_path_of_keys_and_indexes(path, value):
    record = {
        "question": "q",
        "example": {"question": "e"},
        "a.b": "dotted",
        "a": {"b": "path"},
        "turns": [{"text": "first"}, {"text": "second"}],
    }
    assert find(record, path, "a:1") == value


def test_a_named_field_wins_over_every_layout_and_may_hold_messages():
    record = {"prompt": "no", "messages": [USER], "turns": 3}
    assert recognise(record, "a:1", "prompt") == ("--field", Entry((Content(text="no"),)))
    assert recognise(record, "a:1", "messages") == ("--field", Entry((Content(messages=(USER,)),)))


def test_a_line_of_a_text_file_needs_no_field():
    record = {"plain text": "Why?"}
    assert recognise(record, "a:1", "question") == recognise(record, "a:1")
    assert recognise(record, "a:1") == ("plain text", Entry((Content(text="Why?"),)))


@pytest.mark.parametrize(
    ("record", "path", "problem"),
    [
        ({"qestion": "x"}, "question", 'has no "question"'),
        ({"a": {"b": 1}}, "a.c", 'has no "a.c"'),
        ({"a": ["x"]}, "a.1", 'has no "a.1"'),
        ({"question": 3}, "question", 'has a "question" that is not text: 3'),
        ({"question": ""}, "question", 'has an empty "question"'),
        ({"question": ["x"]}, "question", 'has message 0 that is not an object: "x"'),
    ],
)
def test_a_field_without_text_is_refused(record, path, problem):
    with pytest.raises(BadRecordError) as caught:
        recognise(record, "a:1", path)
    assert str(caught.value) == f"`a:1` {problem}"


def test_a_missing_field_is_answered_with_a_near_one_or_with_those_there_are():
    def hint(record):
        with pytest.raises(BadRecordError) as caught:
            find(record, "question", "a:1")
        return caught.value.hint

    assert hint({"qestion": "x"}) == "did you mean `qestion`?"
    assert hint({"body": "x", "n": 1}) == 'it has "body", "n"'


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({}, f"has neither {LAYOUTS}"),
        ({"custom_id": "a"}, f"has neither {LAYOUTS}"),
        ({"turns": ["x"], "conversations": []}, 'has both "turns" and "conversations"'),
        ({"prompt": "x", "messages": [USER]}, 'has both "prompt" and "messages"'),
        ({"prompt": 3}, 'has a "prompt" that is not text: 3'),
        ({"prompt": None}, 'has a "prompt" that is not text: null'),
        ({"prompt": ""}, 'has an empty "prompt"'),
        ({"prompt": " \n\u3000"}, 'has an empty "prompt"'),
        ({"messages": "Hi"}, 'has "messages" that are not a list: "Hi"'),
        ({"messages": []}, 'has "messages" without any text'),
        ({"messages": [{"role": "user", "content": " "}]}, 'has "messages" without any text'),
        ({"messages": ["Hi"]}, 'has message 0 that is not an object: "Hi"'),
        ({"messages": [USER, {"content": "x"}]}, 'has message 1 without "role"'),
        ({"messages": [{"role": "user"}]}, 'has message 0 without "content"'),
        ({"messages": [{"role": " ", "content": "x"}]}, 'has message 0 with the role " "'),
        ({"messages": [{"role": "banana", "content": "x"}]}, 'has message 0 with the role "banana"'),
        ({"messages": [{"role": "assistant", "content": "x"}]}, 'has "messages" in which only the assistant speaks'),
        ({"messages": [{"role": "user", "content": None}]}, 'has message 0 whose "content" is not text: null'),
    ],
)
def test_a_record_that_cannot_be_sent_is_refused(record, problem):
    with pytest.raises(BadRecordError) as caught:
        recognise(record, "a:1")
    assert str(caught.value) == f"`a:1` {problem}"


@pytest.mark.parametrize(
    ("record", "hint"),
    [
        ({"promt": "x"}, "`promt`: did you mean `prompt`?"),
        ({"id": 1, "message": []}, "`message`: did you mean `messages`?"),
        ({"prompt": "x", "turns": ["x"]}, "keep the one that is sent, or name it: `--field prompt`"),
        ({"messages": [{"role": "user", "contents": "x"}]}, "`contents`: did you mean `content`?"),
    ],
)
def test_a_misspelt_key_is_named_with_what_it_may_mean(record, hint):
    with pytest.raises(BadRecordError) as caught:
        recognise(record, "a:1")
    assert caught.value.hint == hint


def test_an_unknown_layout_is_answered_with_the_field_that_holds_the_longest_text():
    with pytest.raises(BadRecordError) as caught:
        recognise({"id": "a long identifier", "question": "Why?", "n": 12345}, "a:1")
    assert caught.value.hint.startswith("pass `--field question` if that is the text to send")
