from datetime import UTC, datetime

import pyarrow as pa

from specprof.records import Request, Round
from specprof.store.schema import REQUIRED, SCHEMA, rows

# The columns of the design's version 1, in its order.
COLUMNS = """request_id engine_request_id prompt_id conversation_id turn sample seed arm arm_order block phase task
labels prompt_tokens cached_prompt_tokens response_tokens first_tokens first_chunk_tokens max_tokens finish_reason
censor_reason complete started_at queue_us ttft_us latency_us rounds proposed_total drafted_total accepted_total
emitted_total regenerations excluded proposed drafted width accepted accepted_raw emitted step batch draft_us verify_us
step_us confidence target_prob draft_ids drafter_ran prompt_ids output_ids prompt_text output_text accepted_hist
output_sha256 first_divergence lossy rank writer load_1m"""


def one(request):
    return rows([request]).to_pylist()[0]


def test_version_1_has_the_columns_it_froze():
    assert SCHEMA.names == COLUMNS.split()
    assert SCHEMA.metadata == {b"specprof.schema": b"1"}
    assert {field.name for field in SCHEMA if not field.nullable} == set(REQUIRED)


def test_every_field_of_a_request_has_a_column():
    assert set(Request.__dataclass_fields__) <= set(SCHEMA.names)
    assert set(Round.__dataclass_fields__) <= set(SCHEMA.names)


def test_strings_are_plain_so_that_every_reader_understands_them():
    assert not any(pa.types.is_dictionary(field.type) or pa.types.is_large_string(field.type) for field in SCHEMA)


def test_rounds_become_lists_and_totals(request_of):
    row = one(request_of(1))
    assert (row["proposed"], row["accepted"], row["emitted"]) == ([5, 5], [3, 5], [4, 5])
    assert (row["rounds"], row["drafted_total"], row["accepted_total"], row["emitted_total"]) == (2, 10, 8, 9)
    assert row["regenerations"] == 1  # the first round only: the second was cut


def test_what_no_round_shows_is_null_and_what_some_show_has_null_elements(request_of):
    rounds = (Round(2, 2, 0, 1, confidence=(0.5, 0.25)), Round(1, 1, 1, 2, draft_us=70))
    row = one(request_of(1, rounds=rounds))
    assert row["verify_us"] is None
    assert row["draft_us"] == [None, 70]
    assert row["confidence"] == [0.5, 0.25, None]


def test_plain_decoding_has_empty_lists_not_null_ones(request_of):
    row = one(request_of(1, rounds=()))
    assert (row["rounds"], row["proposed"], row["proposed_total"], row["draft_us"]) == (0, [], 0, None)


def test_maps_times_and_bytes_have_their_types(request_of):
    row = one(
        request_of(1, labels={"language": "ko"}, accepted_hist={3: 2}, output_sha256=b"\0\1", started_at=1.5, rank=0)
    )
    assert (row["labels"], row["excluded"], row["accepted_hist"]) == ([("language", "ko")], [], [(3, 2)])
    assert row["started_at"] == datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)
    assert row["output_sha256"] == b"\0\1"


def test_the_time_of_a_stopped_process_is_capped_not_an_overflow(request_of):
    assert one(request_of(1, rounds=(Round(0, 0, 0, 1, step_us=10**13),)))["step_us"] == [2**31 - 1]


def test_a_list_that_does_not_fit_the_proposal_is_a_fault(request_of):
    assert request_of(1).problem() is None
    wrong = request_of(1, rounds=(Round(2, 2, 0, 1, draft_ids=(7,)),)).problem()
    assert wrong == "round 0: 1 entries of draft_ids for 2 proposed tokens"
