import pytest

from specprof.errors import BadRecordError
from specprof.prompts.conversations import read_sharegpt, read_turns


def said(*turns):
    return {"conversations": [{"from": speaker, "value": text} for speaker, text in turns]}


def texts(entry):
    return [[message["content"] for message in content.messages] for content in entry.contents]


def test_every_turn_of_a_benchmark_question_is_a_chat_of_that_turn_alone():
    entry = read_turns({"question_id": 81, "category": "writing", "turns": ["a", "b"], "reference": []}, "a:1")
    assert texts(entry) == [["a"], ["b"]]
    assert (entry.turns, entry.history, entry.id, entry.task) == (True, False, "81", "writing")


def test_every_human_turn_holds_all_that_was_said_before_it():
    entry = read_sharegpt(said(("system", "s"), ("human", "a"), ("gpt", "b"), ("user", "c"), ("chatgpt", "d")), "a:1")
    assert texts(entry) == [["s", "a"], ["s", "a", "b", "c"]]
    assert [m["role"] for m in entry.contents[1].messages] == ["system", "user", "assistant", "user"]
    assert (entry.turns, entry.history) == (True, True)


def test_an_answer_before_the_first_question_is_left_out():
    assert texts(read_sharegpt(said(("gpt", "x"), ("human", "a"), ("gpt", "b")), "a:1")) == [["a"]]
    assert texts(read_sharegpt(said(("system", "s"), ("gpt", "x"), ("human", "a")), "a:1")) == [["s", "a"]]


@pytest.mark.parametrize(
    ("turns", "problem"),
    [
        ("text", 'has "turns" that are not a list of texts: "text"'),
        ([], 'has "turns" that are not a list of texts: []'),
        (["a", " "], 'has turn 1 that is no text: " "'),
        ([{"content": "a"}], 'has turn 0 that is no text: {"content": "a"}'),
    ],
)
def test_turns_that_are_no_texts_are_refused(turns, problem):
    with pytest.raises(BadRecordError) as caught:
        read_turns({"turns": turns}, "a:1")
    assert str(caught.value) == f"`a:1` {problem}"


def test_a_row_that_only_stands_for_a_prompt_is_not_sent_as_one():
    placeholder = "FULL BENCHMARK DATA SHOULD BE FETCHED FROM THE SOURCE USING SPECDEC_BENCH"
    with pytest.raises(BadRecordError, match="has a placeholder in turn 0") as caught:
        read_turns({"turns": [placeholder]}, "a:1")
    assert "preparation script" in caught.value.hint


@pytest.mark.parametrize(
    ("conversations", "problem"),
    [
        ("text", 'has "conversations" that are not a list: "text"'),
        ([], 'has "conversations" in which no human speaks'),
        ([{"from": "gpt", "value": "x"}], 'has "conversations" in which no human speaks'),
        (["x"], 'has turn 0 that is not an object: "x"'),
        ([{"from": "human"}], 'has turn 0 whose "value" is not text: null'),
        ([{"value": "x"}], 'has turn 0 whose "from" is not text: null'),
        ([{"from": "human", "value": "a"}, {"from": "tool", "value": "x"}], 'has turn 1 from "tool"'),
        ([{"from": "human", "value": " "}], "has turn 0 in which the human says nothing"),
    ],
)
def test_a_conversation_that_cannot_be_sent_is_refused(conversations, problem):
    with pytest.raises(BadRecordError) as caught:
        read_sharegpt({"conversations": conversations}, "a:1")
    assert str(caught.value) == f"`a:1` {problem}"
