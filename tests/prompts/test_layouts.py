import pytest

from specprof.errors import BadRecordError
from specprof.prompts.layouts import Content, recognise

USER = {"role": "user", "content": "Hi"}


def test_a_prompt_is_raw_text_kept_as_it_is():
    assert recognise({"prompt": " def f():\n"}, "a:1") == ("prompt", Content(text=" def f():\n"))


def test_messages_are_a_chat_kept_whole():
    system = {"role": "system", "content": "", "name": "s"}
    assert recognise({"messages": [system, USER]}, "a:1") == ("messages", Content(messages=(system, USER)))


def test_task_rules_see_the_text_of_every_message():
    chat = Content(messages=({"role": "system", "content": "Translate."}, USER))
    assert (chat.searchable, Content(text="x").searchable) == ("Translate.\nHi", "x")


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({}, 'has neither "prompt" nor "messages"'),
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
        ({"messages": [{"role": " ", "content": "x"}]}, 'has message 0 with an empty "role"'),
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
        ({"messages": [{"role": "user", "contents": "x"}]}, "`contents`: did you mean `content`?"),
    ],
)
def test_a_misspelt_key_is_named_with_what_it_may_mean(record, hint):
    with pytest.raises(BadRecordError) as caught:
        recognise(record, "a:1")
    assert caught.value.hint == hint
