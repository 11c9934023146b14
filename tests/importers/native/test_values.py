from dataclasses import fields

import pytest

from specprof.errors import BadRecordError
from specprof.importers.native.values import PER_ROUND, PER_TOKEN, REQUEST_KINDS
from specprof.records import Request, Round


def test_every_field_of_a_request_and_of_a_round_has_a_kind():
    assert {*REQUEST_KINDS, "rounds"} == {field.name for field in fields(Request)}
    assert {*PER_ROUND, *PER_TOKEN} == {field.name for field in fields(Round)}
    assert set(PER_TOKEN) == {"confidence", "target_prob", "draft_ids"}


@pytest.mark.parametrize(
    ("field", "value", "stored"),
    [
        ("request_id", 7, "7"),
        ("prompt_tokens", 0, 0),
        ("latency_us", 2**40, 2**40),
        ("complete", False, False),
        ("output_text", "", ""),
        ("started_at", 1_700_000_000, 1_700_000_000.0),
        ("output_sha256", "00ff", b"\x00\xff"),
        ("output_ids", [1, 2], (1, 2)),
        ("labels", {"language": "ko"}, {"language": "ko"}),
        ("excluded", {"warm": 2}, {"warm": 2}),
        ("accepted_hist", {"0": 3, "10": 1, "4": 0}, {0: 3, 10: 1}),
        ("phase", "warmup", "warmup"),
        ("finish_reason", "length", "length"),
        ("censor_reason", "unknown", "unknown"),
    ],
)
def test_a_value_is_stored_as_its_field_declares(field, value, stored):
    assert REQUEST_KINDS[field].check(f'"{field}"', value, "a:1") == stored


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("request_id", ""),
        ("request_id", True),
        ("task", 3),
        ("arm", " "),
        ("prompt_tokens", True),
        ("prompt_tokens", 3.0),
        ("prompt_tokens", -1),
        ("prompt_tokens", "3"),
        ("prompt_tokens", 2**31),
        ("latency_us", 2**63),
        ("complete", 1),
        ("output_text", 3),
        ("load_1m", float("nan")),
        ("load_1m", float("inf")),
        ("load_1m", 10**400),
        ("started_at", 1_700_000_000_000),
        ("output_sha256", "xyz"),
        ("output_sha256", "abc"),
        ("output_ids", [1, -2]),
        ("output_ids", 3),
        ("labels", {"turn": 1}),
        ("excluded", {"warm": -1}),
        ("accepted_hist", {"x": 1}),
        ("phase", "measured"),
        ("finish_reason", ["stop"]),
    ],
)
def test_a_value_unlike_its_field_is_refused(field, value):
    with pytest.raises(BadRecordError) as caught:
        REQUEST_KINDS[field].check(f'"{field}"', value, "a:1")
    assert str(caught.value).startswith(f'`a:1` has "{field}" ')
    assert (caught.value.hint or "").startswith("it must be ")


@pytest.mark.parametrize(("field", "value"), [("confidence", 1.1), ("target_prob", -0.1), ("draft_ids", 1.0)])
def test_confidences_are_probabilities_and_draft_ids_whole_numbers(field, value):
    with pytest.raises(BadRecordError):
        PER_TOKEN[field].check(field, value, "a:1")
