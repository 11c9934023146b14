import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specprof.records import Request, Round
from specprof.spool.payload import decode_fields, decode_round, encode_fields, encode_round, fields_of

counts = st.integers(0, 2**31 - 1)
maybe = st.none() | counts
times = st.none() | st.integers(0, 2**62)
floats = st.none() | st.lists(st.floats(width=32, allow_nan=False), max_size=4).map(tuple)
ids = st.none() | st.lists(counts, max_size=4).map(tuple)
rounds = st.builds(
    Round,
    *[counts] * 4,
    *[maybe] * 4,
    *[times] * 3,
    drafter_ran=st.none() | st.booleans(),
    confidence=floats,
    target_prob=floats,
    draft_ids=ids,
)


@given(rounds)
def test_a_round_survives_the_trip_and_unobserved_stays_none(round):
    assert decode_round(encode_round(round)) == round


def test_an_empty_list_is_not_an_unobserved_one():
    back = decode_round(encode_round(Round(0, 0, 0, 1, confidence=(), draft_ids=None)))
    assert back.confidence == ()
    assert back.draft_ids is None


def test_a_nan_confidence_stays_nan():
    back = decode_round(encode_round(Round(2, 2, 0, 1, confidence=(math.nan, 0.5))))
    assert math.isnan(back.confidence[0])
    assert back.confidence[1] == 0.5


def test_every_kind_of_field_survives_the_trip():
    request = Request(
        request_id="r",
        prompt_id="p",
        arm="a",
        task="요약",
        prompt_tokens=3,
        response_tokens=2,
        labels={"language": "ko"},
        excluded={"context": 1},
        prompt_ids=(1, 2, 3),
        output_ids=(4, 5),
        accepted_hist={0: 7, 3: 1},
        output_sha256=b"\x00\xff",
        started_at=1.5,
        prompt_text='a "quoted"\nline',
        lossy=False,
    )
    back = decode_fields(encode_fields(fields_of(request)))
    assert Request(**back) == request


def test_fields_of_a_newer_minor_version_are_left_out():
    assert decode_fields(b'{"task": "code", "mood": "good"}') == {"task": "code"}


def test_a_value_that_cannot_be_spooled_is_named_by_its_type():
    with pytest.raises(TypeError, match="a set cannot be spooled"):
        encode_fields({"labels": {1}})
