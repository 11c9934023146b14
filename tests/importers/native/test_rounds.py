import pytest

from specprof.errors import BadRecordError
from specprof.importers.native.rounds import rounds_of
from specprof.records import Round


def test_proposed_and_width_default_to_drafted_and_emitted_to_accepted_plus_one():
    assert rounds_of({"drafted": [5, 0], "accepted": [3, 0]}, "a:1") == (
        Round(proposed=5, drafted=5, accepted=3, emitted=4, width=5),
        Round(proposed=0, drafted=0, accepted=0, emitted=1, width=0),
    )


def test_given_lists_go_before_the_defaults():
    given = {"proposed": [6], "width": [9], "emitted": [2], "accepted_raw": [4], "step": [3], "batch": [2]}
    assert rounds_of({"drafted": [5], "accepted": [2]} | given, "a:1") == (
        Round(proposed=6, drafted=5, accepted=2, emitted=2, width=9, accepted_raw=4, step=3, batch=2),
    )


def test_what_some_rounds_lack_is_null():
    lists = {"draft_us": [None, 7], "verify_us": [None, 9], "step_us": [None, 17], "drafter_ran": [True, None]}
    first, second = rounds_of({"drafted": [1, 1], "accepted": [0, 1]} | lists, "a:1")
    assert (first.draft_us, first.verify_us, first.step_us, first.drafter_ran) == (None, None, None, True)
    assert (second.draft_us, second.verify_us, second.step_us, second.drafter_ran) == (7, 9, 17, None)


def test_flat_lists_are_cut_by_what_each_round_proposed():
    record = {"proposed": [2, 0, 1], "drafted": [1, 0, 1], "accepted": [0, 0, 1]}
    flat = {"confidence": [0.9, 0.1, 1], "target_prob": [0.5, 0.5, 0.5], "draft_ids": [11, 12, 13]}
    rounds = rounds_of(record | flat, "a:1")
    assert [r.confidence for r in rounds] == [(0.9, 0.1), (), (1.0,)]
    assert [r.draft_ids for r in rounds] == [(11, 12), (), (13,)]


def test_without_lists_there_are_no_rounds():
    assert rounds_of({}, "a:1") == rounds_of({"drafted": [], "accepted": []}, "a:1") == ()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"accepted": [1]}, 'has 1 entries in "accepted" but 2 in "drafted"'),
        ({"emitted": [1, 1, 1]}, 'has 3 entries in "emitted" but 2 in "drafted"'),
        ({"drafted": []}, 'has 2 entries in "accepted" but 0 in "drafted"'),
        ({"drafted": 5}, 'has "drafted" 5'),
        ({"drafted": [5, True]}, 'has "drafted"[1] true'),
        ({"drafted": [5, 3.0]}, 'has "drafted"[1] 3.0'),
        ({"accepted": [-1, 0]}, 'has "accepted"[0] -1'),
        ({"accepted": [0, None]}, 'has "accepted"[1] null'),
        ({"emitted": [None, 1]}, 'has "emitted"[0] null'),
        ({"drafter_ran": [1, 0]}, 'has "drafter_ran"[0] 1'),
        ({"confidence": [0.5]}, 'has 1 entries in "confidence" for 10 proposed tokens'),
        ({"draft_ids": [None] * 10}, 'has "draft_ids"[0] null'),
    ],
)
def test_lists_that_do_not_fit_are_refused(change, problem):
    with pytest.raises(BadRecordError) as caught:
        rounds_of({"drafted": [5, 5], "accepted": [1, 0]} | change, "a:1")
    assert str(caught.value) == f"`a:1` {problem}"
