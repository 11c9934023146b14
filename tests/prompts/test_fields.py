import pytest

from specprof.errors import BadRecordError
from specprof.prompts import fields


def test_absent_and_null_fields_are_none():
    for record in ({}, {"id": None, "task": None, "turn": None, "output_tokens": None, "labels": None}):
        assert fields.name(record, "id", "a:1") is None
        assert fields.text(record, "task", "a:1") is None
        assert fields.whole(record, "turn", "a:1", least=0) is None
        assert fields.output_tokens(record, "a:1") is None
        assert fields.labels(record, "a:1") == {}


def test_a_number_is_a_name_too():
    assert [fields.name({"id": value}, "id", "a:1") for value in (7, "7", 0)] == ["7", "7", "0"]


@pytest.mark.parametrize("value", [True, 1.5, "", "  ", []])
def test_other_names_are_refused(value):
    with pytest.raises(BadRecordError, match=r'`a:1` has "id" '):
        fields.name({"id": value}, "id", "a:1")


@pytest.mark.parametrize("value", [3, "", ["code"]])
def test_a_task_must_be_text(value):
    with pytest.raises(BadRecordError, match=r'`a:1` has "task" '):
        fields.text({"task": value}, "task", "a:1")


@pytest.mark.parametrize("value", [-1, True, False, 3.0, "3", [3]])
def test_output_tokens_must_be_a_whole_number(value):
    with pytest.raises(BadRecordError, match=r'has "output_tokens" ') as caught:
        fields.output_tokens({"output_tokens": value}, "a:1")
    assert caught.value.hint == "it must be a whole number from 1 to 2³¹ − 1"


def test_zero_output_tokens_are_zero_new_tokens():
    with pytest.raises(BadRecordError, match="`a:1` asks for zero new tokens"):
        fields.output_tokens({"output_tokens": 0}, "a:1")


def test_one_output_token_and_turn_zero_are_allowed():
    assert fields.output_tokens({"output_tokens": 1}, "a:1") == 1
    assert fields.whole({"turn": 0}, "turn", "a:1", least=0) == 0


@pytest.mark.parametrize("value", ["ko", ["ko"], {"language": 1}, {"language": None}])
def test_labels_must_map_text_to_text(value):
    with pytest.raises(BadRecordError, match=r'`a:1` has "labels" '):
        fields.labels({"labels": value}, "a:1")
