from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specprof.errors import BadRecordError
from specprof.importers.native.request import request_of

BASE = {"request_id": "r", "task": "code", "prompt_tokens": 9}


def record(response, drafted, accepted, **more):
    return BASE | {"response_tokens": response, "drafted": drafted, "accepted": accepted} | more


def refused(values):
    with pytest.raises(BadRecordError) as caught:
        request_of(values, "a:1")
    return str(caught.value).removeprefix("`a:1` ")


def test_a_balanced_record_becomes_a_request_with_defaults():
    request = request_of(record(10, [5, 5], [3, 5]), "a:1")
    assert (request.request_id, request.prompt_id, request.arm, request.phase) == ("r", "r", "imported", "measure")
    assert (request.first_tokens, request.sample, request.complete, request.unbalanced) == (0, 0, True, 0)
    assert [step.emitted for step in request.rounds] == [4, 6]
    assert request.censor_reason is None


def test_null_counts_as_absent():
    request = request_of(record(11, [5, 5], [3, 5], first_tokens=1, arm=None, emitted=None, rounds=None), "a:1")
    assert (request.arm, request.unbalanced) == ("imported", 0)


def test_request_fields_are_taken_over():
    more = {"arm": "k5", "prompt_id": "p", "phase": "warmup", "labels": {"language": "ko"}, "ttft_us": 7, "seed": 3}
    request = request_of(record(4, [5], [3], **more), "a:1")
    assert {name: getattr(request, name) for name in more} == more


@pytest.mark.parametrize(
    ("response", "accepted", "emitted", "cut", "raw"),
    [
        (8, [3, 5], 4, 4, 5),  # 4 + 6 = 10, two too many: 6 - 2 = 4 of the last round's 5 + 1 were kept
        (9, [3, 5], 5, 5, 5),  # only the bonus token was cut
        (4, [3, 5], 0, 0, 5),  # all six were cut
        (6, [3, 2], 2, 2, 2),  # the token after the rejection was cut
    ],
)
def test_a_last_round_that_overshoots_the_response_is_cut_to_fit(response, accepted, emitted, cut, raw):
    request = request_of(record(response, [5, 5], accepted), "a:1")
    last = request.rounds[-1]
    assert (last.emitted, last.accepted, last.accepted_raw) == (emitted, cut, raw)
    assert last.censored
    assert not last.regenerated
    assert request.unbalanced == 0
    assert request.rounds[0].accepted_raw is None


@pytest.mark.parametrize("response", [3, 11, 0])
def test_any_other_difference_is_left_alone(response):
    request = request_of(record(response, [5, 5], [3, 5]), "a:1")
    assert [(step.accepted, step.emitted) for step in request.rounds] == [(3, 4), (5, 6)]
    assert request.unbalanced == response - 10
    assert request.censor_reason is None


def test_first_tokens_are_not_the_rounds_to_emit():
    assert request_of(record(10, [5, 5], [3, 5], first_tokens=1), "a:1").rounds[-1].emitted == 5


def test_given_emitted_tokens_are_never_changed():
    request = request_of(record(8, [5, 5], [3, 5], emitted=[4, 6]), "a:1")
    assert (request.rounds[-1].emitted, request.unbalanced) == (6, -2)


def test_a_given_raw_count_is_kept_when_the_last_round_is_cut():
    request = request_of(record(8, [7, 7], [3, 5], accepted_raw=[3, 6]), "a:1")
    assert (request.rounds[-1].accepted, request.rounds[-1].accepted_raw) == (4, 6)


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ({"finish_reason": "length"}, "length"),
        ({"finish_reason": "eos"}, "eos"),
        ({"finish_reason": "stop"}, "stop"),
        ({"finish_reason": "abort"}, "abort"),
        ({"finish_reason": "error"}, "unknown"),
        ({}, "unknown"),
        ({"finish_reason": "length", "censor_reason": "eos"}, "eos"),
    ],
)
def test_a_cut_round_says_why(finish, reason):
    assert request_of(record(8, [5, 5], [3, 5], **finish), "a:1").censor_reason == reason
    assert request_of(record(8, [5, 5], [3, 4], emitted=[4, 4], **finish), "a:1").censor_reason == reason


def test_plain_decoding_needs_no_lists():
    for lists in ({}, {"drafted": [], "accepted": []}):
        request = request_of(BASE | {"response_tokens": 40, "arm": "baseline"} | lists, "a:1")
        assert (request.rounds, request.arm) == ((), "baseline")


@pytest.mark.parametrize("name", ["request_id", "task", "prompt_tokens", "response_tokens", "drafted", "accepted"])
def test_a_required_field_is_missed_by_name(name):
    for absent in ({}, {name: None}):
        values = {key: value for key, value in record(4, [5], [3]).items() if key != name} | absent
        assert refused(values) == f'has no "{name}"'


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"accepted": [6]}, "is impossible: round 0: accepted 6 is outside 0..drafted (5)"),
        ({"proposed": [4]}, "is impossible: round 0: drafted 5 exceeds proposed 4"),
        ({"width": [4]}, "is impossible: round 0: width 4 is below drafted 5"),
        ({"emitted": [5]}, "is impossible: round 0: emitted 5 is outside 0..accepted + 1 (4)"),
        (
            {"emitted": [2]},
            "is impossible: round 0: emitted 2 is below accepted 3, which counts only what the response kept",
        ),
        ({"accepted_raw": [2]}, "is impossible: round 0: accepted_raw 2 is below accepted 3"),
        ({"prompt_tokens": 3.0}, 'has "prompt_tokens" 3.0'),
        ({"rounds": 2}, 'has "rounds" 2, but its lists give 1'),
        ({"proposed_total": 4}, 'has "proposed_total" 4, but its lists give 5'),
        ({"drafted_total": 6}, 'has "drafted_total" 6, but its lists give 5'),
        ({"accepted_total": 4}, 'has "accepted_total" 4, but its lists give 3'),
        ({"emitted_total": 3}, 'has "emitted_total" 3, but its lists give 4'),
        ({"regenerations": 0}, 'has "regenerations" 0, but its lists give 1'),
        ({"rounds": True}, 'has "rounds" true'),
        ({"rounds": 1.0}, 'has "rounds" 1.0'),
        ({"accepted_hist": {"2": 1}}, 'has an "accepted_hist" unlike its list "accepted": {3: 1}'),
        ({"arm": "baseline"}, 'drafts tokens in the arm "baseline"'),
        ({"acepted": [3]}, 'has an unknown field "acepted"'),
    ],
)
def test_a_record_that_contradicts_itself_is_refused(more, problem):
    assert refused(record(4, [5], [3]) | more) == problem


def test_too_many_accepted_tokens_are_refused_even_where_the_cut_would_hide_them():
    assert refused(record(3, [3], [5])).startswith("is impossible: round 0: accepted 5")


def test_only_the_last_round_can_be_cut():
    assert refused(record(9, [5, 5], [3, 5], emitted=[3, 6])).startswith("is impossible: round 0: 3 accepted but 3")


def test_true_totals_are_taken():
    totals = {"rounds": 2, "proposed_total": 10, "drafted_total": 10, "accepted_total": 8, "emitted_total": 10}
    more = totals | {"regenerations": 1, "accepted_hist": {"3": 1, "5": 1}}
    assert request_of(record(10, [5, 5], [3, 5], **more), "a:1").accepted_hist == {3: 1, 5: 1}


@pytest.mark.parametrize(("accepted", "emitted"), [(8, 10), (7, 8)])
def test_totals_may_count_the_last_round_before_or_after_its_cut(accepted, emitted):
    totals = {"accepted_total": accepted, "emitted_total": emitted}
    assert request_of(record(8, [5, 5], [3, 5], **totals), "a:1").rounds[-1].accepted == 4


def test_an_unknown_field_gets_a_suggestion_or_the_place_for_ones_own():
    for name, hint in (("response_token", "did you mean `response_tokens`?"), ("zzz", "values of your own go into")):
        with pytest.raises(BadRecordError) as caught:
            request_of(record(4, [5], [3]) | {name: None}, "a:1")
        assert (caught.value.hint or "").startswith(hint)


@given(
    st.lists(st.integers(0, 8).flatmap(lambda k: st.tuples(st.just(k), st.integers(0, k))), min_size=1, max_size=9),
    st.integers(0, 9),
)
def test_a_cut_by_at_most_the_last_round_always_balances(rounds, excess):
    drafted, accepted = (list(column) for column in zip(*rounds, strict=True))
    excess = min(excess, accepted[-1] + 1)
    request = request_of(record(sum(accepted) + len(rounds) - excess, drafted, accepted), "a:1")
    assert request.unbalanced == 0
    assert request.problem() is None
    assert request.rounds[-1].censored == (excess > 0)
    assert Counter(s.accepted for s in request.rounds[:-1]) == Counter(accepted[:-1])
