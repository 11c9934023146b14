import pytest

from specprof.errors import BadRecordError
from specprof.prompts.batch import read

USER = {"role": "user", "content": "Hi"}


def entry(body, **record):
    return read({"custom_id": "r1", "method": "POST", "body": body} | record, "a:1")


def test_a_chat_request_is_its_messages_under_its_custom_id():
    found = entry({"model": "m", "messages": [USER], "max_tokens": 9}, url="/v1/chat/completions")
    assert (found.contents[0].messages, found.id, found.output_tokens) == ((USER,), "r1", 9)


def test_a_completion_request_is_raw_text():
    assert entry({"prompt": "def f("}, url="/v1/completions").contents[0].text == "def f("


def test_a_response_request_is_a_chat_with_its_instructions_as_system_message():
    found = entry({"input": "Hi", "instructions": "Be brief."}, url="/v1/responses")
    assert found.contents[0].messages == ({"role": "system", "content": "Be brief."}, USER)
    assert entry({"input": [USER]}).contents[0].messages == (USER,)


@pytest.mark.parametrize(
    ("limits", "tokens"),
    [
        ({"max_tokens": 5}, 5),
        ({"max_completion_tokens": 6, "max_tokens": 5}, 6),
        ({"max_output_tokens": 7}, 7),
        ({"max_tokens": None}, None),
    ],
)
def test_every_name_of_the_length_limit_is_read(limits, tokens):
    assert entry({"prompt": "x"} | limits).output_tokens == tokens


def test_settings_of_sampling_are_named_and_what_changes_no_answer_is_not():
    body = {"prompt": "x", "model": "m", "stream": True, "temperature": 0.7, "stop": ["\n"], "top_p": None}
    assert entry(body).not_obeyed == ("temperature", "stop")


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({"body": "x"}, 'has a "body" that is not an object: "x"'),
        ({"body": {}}, 'has neither "messages", "prompt" nor "input" in its body'),
        ({"body": {"prompt": "x", "messages": [USER]}}, 'has both "messages" and "prompt" in its body'),
        ({"body": {"prompt": ["x", "y"]}}, 'has a "prompt" that is not text: ["x", "y"]'),
        ({"body": {"input": " "}}, 'has an empty "input"'),
        ({"body": {"messages": [{"role": "user"}]}}, 'has message 0 without "content"'),
        ({"body": {"prompt": "x"}, "url": "/v1/embeddings"}, 'is a request to "/v1/embeddings"'),
        ({"body": {"prompt": "x", "max_tokens": 0}}, "asks for zero new tokens"),
        ({"body": {"prompt": "x"}, "custom_id": 1.5}, 'has "custom_id" 1.5'),
    ],
)
def test_a_request_that_cannot_be_sent_is_refused(record, problem):
    with pytest.raises(BadRecordError) as caught:
        read(record, "a:1")
    assert str(caught.value) == f"`a:1` {problem}"


def test_a_misspelt_key_of_the_body_is_named():
    with pytest.raises(BadRecordError) as caught:
        entry({"mesages": [USER]})
    assert caught.value.hint == "`mesages`: did you mean `messages`?"
