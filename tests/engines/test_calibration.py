import pytest

from specprof.engines.calibration import first_of_each_drafter, longest_context, room, widths_up_to
from specprof.errors import UsageError
from specprof.records import Arm, drafter


def test_widths_are_dense_where_drafts_are_and_end_with_k():
    assert widths_up_to(3) == [0, 1, 2, 3]
    assert widths_up_to(8) == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert widths_up_to(20) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20]
    assert widths_up_to(32)[-3:] == [16, 24, 32]
    assert widths_up_to(0) == [0]


def test_arms_that_differ_in_k_alone_are_timed_once_up_to_the_largest_k():
    arms = [
        Arm(id="k2", method="draft_model", draft="d", k=2),
        Arm(id="baseline", method="none"),
        Arm(id="k6", method="draft_model", draft="d", k=6),
        Arm(id="other", method="draft_model", draft="e", k=3),
        Arm(id="stops", method="draft_model", draft="d", k=4, schedule="confidence", threshold=0.4),
    ]
    assert [(arm.id, arm.k) for arm in first_of_each_drafter(arms)] == [("k2", 6), ("other", 3), ("stops", 4)]


def test_the_longest_context_leaves_room_for_all_widths():
    """Widths 0 to 4, twice 4, and 8."""
    assert room(4) == 26
    assert (longest_context(4, 160), longest_context(4, 27)) == (134, 1)
    with pytest.raises(UsageError, match="26 tokens beside the context"):
        longest_context(4, 26)


def test_two_paths_to_one_draft_are_one_drafter():
    arms = [Arm(id=name, method="draft_model", draft=draft, k=2) for name, draft in (("a", "m/d"), ("b", "./m/d/"))]
    assert [arm.id for arm in first_of_each_drafter(arms)] == ["a"]


def test_a_draft_is_its_weights_where_they_are_known():
    here, there = (Arm(id="a", method="draft_model", draft=draft, k=2).to_dict() for draft in ("here", "there"))
    weights = {"here": {"sha256": {"w": "1"}}, "there": {"sha256": {"w": "1"}}}
    assert drafter(here, weights) == drafter(there, weights)
    assert drafter(here, weights) != drafter(here, {"here": {"sha256": {"w": "2"}}})
    assert drafter(here) != drafter(there)
    unknown = {"here": {"revision": None}, "there": {"revision": None}}  # of which nothing is known
    assert drafter(here, unknown) != drafter(there, unknown)
