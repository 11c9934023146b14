from specprof.engines.calibration import first_of_each_drafter, widths_up_to
from specprof.records import Arm


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
