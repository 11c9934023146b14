from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specprof.analysis.columns import equals
from specprof.analysis.frame import COLUMNS, Frame
from specprof.records import Round


@pytest.fixture(scope="session")
def two(frame, request_):
    """Request b: a full accept, a rejection after 1 of 3, and a last round cut after 2 of 4. Request a: nothing."""
    return frame(
        request_("b", [2, 3, 4], [2, 1, 2], emitted=[3, 2, 2], first_tokens=1),
        request_("a"),
    )


def sums(frame):
    return {f.name: getattr(frame.sums, f.name).tolist() for f in fields(frame.sums)}


def test_the_sums_of_a_hand_made_request(two):
    assert sums(two) == {
        "rounds": [0, 3],
        "proposed": [0, 9],
        "drafted": [0, 9],
        "width": [0, 9],
        "accepted": [0, 5],
        "emitted": [0, 7],
        "ran": [0, 3],
        "wide": [0, 3],
        "drafting": [0, 3],
        "drafting_accepted": [0, 5],
        "drafting_emitted": [0, 7],
        "regenerations": [0, 1],
        "censored": [0, 1],
    }


def test_warm_up_and_calibration_are_not_in_the_frame(frame, request_):
    assert len(frame(request_("a", [1], [1]), request_("b", phase="warmup"), request_("c", phase="calibration"))) == 1


def test_width_and_drafter_ran_fall_back_where_null(frame, request_):
    seen = (Round(3, 2, 1, 2, width=6, drafter_ran=True), Round(0, 0, 0, 1))
    unseen = (Round(3, 2, 1, 2), Round(0, 0, 0, 1))
    both = frame(request_("a", rounds=unseen), request_("b", rounds=seen), request_("c", rounds=unseen))
    assert both.rounds.width.tolist() == [2, 0, 6, 0, 2, 0]
    assert both.rounds.ran.tolist() == [1, 0, 1, 0, 1, 0]


def test_a_drafter_that_found_nothing_still_ran(frame, request_):
    assert frame(request_("a", rounds=(Round(0, 0, 0, 1, drafter_ran=True),))).sums.ran.tolist() == [1]


def test_a_conversation_is_one_cluster_and_never_mixes_with_a_prompt_of_its_name(frame, request_):
    turns = [request_(f"t{i}", [1], [1], conversation_id="x", turn=i) for i in (0, 1)]
    assert frame(*turns, request_("u", [1], [1], prompt_id="x")).clusters == 2


def test_samples_of_one_prompt_are_one_cluster(frame, request_):
    assert frame(*(request_(f"s{i}", [1], [1], prompt_id="p", sample=i) for i in range(3))).clusters == 1


def test_labels_and_exclusions_line_up_with_the_requests(frame, request_):
    both = frame(
        request_("b", [1], [1], labels={"language": "ko"}, excluded={"grammar": 2}),
        request_("a", [1], [1]),
    )
    assert both.labels["language"].tolist() == [None, "ko"]
    assert both.excluded["grammar"].tolist() == [0, 2]


def test_times_that_were_not_observed_are_not_zero(frame, request_):
    assert np.isnan(frame(request_("a", [1], [1])).requests.ttft_us).all()


def test_the_list_columns_that_an_engine_need_not_fill_may_be_absent(table, request_):
    slim = table(request_("a", [2], [1])).drop_columns(["width", "drafter_ran", "labels", "conversation_id", "lossy"])
    assert Frame.of(slim).sums.width.tolist() == [2]


def test_unfinished_and_skipped_requests_are_not_counted(frame, request_):
    mixed = frame(
        request_("a", [1], [1]), request_("b", [1], [1], complete=False), request_("c", finish_reason="skipped")
    )
    assert mixed.counted.tolist() == [True, False, False]


def test_an_empty_table_is_an_empty_frame(table):
    empty = Frame.of(table())
    assert len(empty) == 0
    assert empty.clusters == 0


ROUND = st.integers(0, 4).flatmap(lambda k: st.tuples(st.just(k), st.integers(0, k)))
REQUESTS = st.lists(st.lists(ROUND, max_size=5), max_size=6)


@given(REQUESTS, st.data())
def test_taking_requests_takes_their_rounds(frame, request_, drawn, data):
    requests = [
        request_(f"r{i}", *zip(*rounds, strict=True)) if rounds else request_(f"r{i}") for i, rounds in enumerate(drawn)
    ]
    chosen = data.draw(st.lists(st.sampled_from(range(len(drawn))), unique=True)) if drawn else []
    part = frame(*requests).take(np.array(chosen, dtype=np.int64))
    assert part.rounds.drafted.tolist() == [k for i in chosen for k, _ in drawn[i]]
    assert part.rounds.accepted.tolist() == [a for i in chosen for _, a in drawn[i]]
    assert part.sums.accepted.tolist() == [sum(a for _, a in drawn[i]) for i in chosen]


@given(REQUESTS)
def test_emitted_is_accepted_plus_rounds_where_nothing_is_cut(frame, request_, drawn):
    requests = [request_(f"r{i}", *zip(*rounds, strict=True)) for i, rounds in enumerate(drawn) if rounds]
    s = frame(*requests).sums
    assert (s.emitted == s.accepted + s.rounds).all()
    assert not s.censored.any()


def test_every_column_that_is_read_is_in_the_schema(table):
    assert set(COLUMNS) <= set(table().column_names)


def test_equal_words_are_found_among_missing_ones():
    assert equals(np.array(["a", None, "b"], dtype=object), "a").tolist() == [True, False, False]
    assert equals(np.array(["a", None, "b"], dtype=object), None).tolist() == [False, True, False]
