import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specprof.errors import BadRecordError
from specprof.prompts import array
from specprof.prompts.array import elements


def read(text):
    return list(elements(io.BufferedReader(io.BytesIO(text.encode() if isinstance(text, str) else text)), "a"))


@pytest.fixture
def one_byte_pieces(monkeypatch):
    monkeypatch.setattr(array, "PIECE_BYTES", 1)


def test_every_element_has_the_line_on_which_it_begins():
    assert read('[\n  {"a": 1},\n\n  {\n   "b": [2]\n  }, {"c": 3}\n]\n') == [
        ("a:2", {"a": 1}),
        ("a:4", {"b": [2]}),
        ("a:6", {"c": 3}),
    ]


def test_a_byte_order_mark_and_space_stand_before_an_array():
    assert read(b'\xef\xbb\xbf \n[{"a": 1}]') == [("a:2", {"a": 1})]


@given(
    st.lists(
        st.dictionaries(st.text(), st.text() | st.integers() | st.floats(allow_nan=False) | st.none() | st.booleans()),
        min_size=1,
    ),
    st.booleans(),
    st.integers(1, 40),
)
def test_an_array_reads_the_same_in_pieces_of_any_size(records, plain, size):
    text = json.dumps(records, ensure_ascii=plain)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(array, "PIECE_BYTES", size)
        assert [record for _, record in read(text.encode("utf-8", "surrogatepass"))] == records


def test_an_element_that_is_no_object_comes_as_its_error_and_the_reading_goes_on():
    (_, first), (place, second), (_, third) = read('[{"a": 1},\n"text",\n{"b": 2}]')
    assert (first, third, place) == ({"a": 1}, {"b": 2}, "a:2")
    assert str(second) == '`a:2` is not a JSON object: "text"'


def test_half_a_surrogate_pair_comes_as_an_error():
    ((_, found),) = read(r'[{"a": "\ud83d"}]')
    assert "half of a surrogate pair" in str(found)


@pytest.mark.usefixtures("one_byte_pieces")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[", "`a:1` is not JSON: Expecting value"),
        ("[]", "`a` is an empty array"),
        ('[{"a": 1}', "`a:1` has the end of the file where `]` should be"),
        ('[{"a": 1}\n{"b": 2}]', "`a:2` has `{` where `]` should be"),
        ('[{"a": 1},\n]', "`a:2` is not JSON: Expecting value"),
        ('[{"a": 1},\n{"b": \n oops, "c": "a text that is long enough"}]', "`a:3` is not JSON: Expecting value"),
        ('[{"a": "open', "`a:1` is not JSON: Unterminated string"),
        ('[{"a": 1}]\n x', "`a:2` has `x` after the end of the array"),
    ],
)
def test_broken_json_is_named_with_its_line(text, problem):
    with pytest.raises(BadRecordError) as caught:
        read(text)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize("text", [b'[{"a": "\xff"}]', b'[{"a": "\xe2\x82'])
def test_an_array_that_is_not_utf8_is_refused(text):
    with pytest.raises(BadRecordError, match="is not UTF-8"):
        read(text)
