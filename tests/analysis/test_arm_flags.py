import pytest

from specprof.analysis.arm_flags import arm_flags, drifted, full_round, nonlinear
from specprof.analysis.cost import Costs
from specprof.records import Arm

ARM = Arm("spec", "draft_model", k=2).to_dict()


def occasion(when, steps, draft=10, context=64):
    """One repeat per plain step of `steps`, in µs; a round costs 1.2 of them, a draft of either length `draft` µs."""
    samples = []
    for number, step in enumerate(steps):
        place = {"context": context, "repeat": number}
        samples += [
            {"kind": "plain", "us": step, **place},
            {"kind": "round", "us": step, "width": 0, **place},
            {"kind": "round", "us": 1.2 * step, "width": 2, **place},
            *({"kind": "draft", "us": draft, "width": width, "arm": "spec", **place} for width in (1, 2)),
        ]
    return {"when": when, "samples": samples}


def run(*occasions):
    return {"arms": {"spec": ARM}, "calibration": list(occasions)}


QUIET = (98, 99, 100, 100, 101, 102)


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        ((108, 109, 110, 110, 111, 112), True),  # 10 % slower, and no value of one occasion among the other's
        ((103, 103, 104, 104, 105, 105), False),  # apart, but by 4 %
        ((101, 110, 110, 110, 110, 120), False),  # 10 % slower, but the intervals touch
        ((108, 109, 110, 110, 111), False),  # 5 repeats have no interval
    ],
)
def test_a_plain_step_that_changed_beyond_its_spread_has_drifted(later, expected):
    assert drifted(ARM, run(occasion("before", QUIET), occasion("after", later))) is expected


def test_a_drafter_that_became_dearer_has_drifted_though_the_plain_step_did_not():
    """A full round costs 1.2 + .1 plain steps before and 1.2 + .3 after."""
    assert drifted(ARM, run(occasion("before", QUIET), occasion("after", QUIET, draft=30)))
    assert not drifted(ARM, run(occasion("before", QUIET), occasion("after", QUIET)))


def test_drift_is_between_occasions_of_the_run_at_the_same_context():
    slow = [2 * step for step in QUIET]
    assert not drifted(ARM, run(occasion("before", QUIET)))
    assert not drifted(ARM, run(occasion("before", QUIET), {"when": "after", "samples": []}))
    assert not drifted(ARM, run(occasion("before", QUIET), occasion("after", slow, context=512)))
    assert not drifted(ARM, run(occasion("file", slow), occasion("before", QUIET), occasion("after", QUIET)))


def table(*repeats):
    every = tuple(Costs(0, 0, widths=tuple(enumerate(costs, 1))) for costs in repeats)
    return Costs(0, 0, widths=every[0].widths, repeats=every)


def test_a_table_with_steps_is_nonlinear_and_a_noisy_line_is_not():
    """Up to k = 4 the line is 1.2, 1.4, 1.6, 1.8: v(2) lies .15 or .05 below it."""
    assert nonlinear(table(*[[1.2, 1.25, 1.6, 1.8]] * 6), 4)
    assert not nonlinear(table(*[[1.2, 1.35, 1.6, 1.8]] * 6), 4)
    noisy = [[1.2, 1.4 + bend, 1.6, 1.8] for bend in (-0.2, -0.2, -0.2, -0.2, -0.2, 0.1)]
    assert not nonlinear(table(*noisy), 4)


def test_only_the_widths_of_the_arm_count_for_its_line():
    costs = table(*[[1.1, 1.2, 1.9, 2.0]] * 6)
    assert nonlinear(costs, 4)
    assert not nonlinear(costs, 2)
    assert not nonlinear(Costs(0.1, 0.2), 4)


def test_a_full_round_is_priced_term_by_term():
    costs = Costs(0.1, 0, alpha_round=0.02, phi=0.03, widths=((4, 1.6),))
    assert full_round(costs, 4) == pytest.approx(1.6 + 0.4 + 0.02 + 0.03)
    assert full_round(costs, 0) == pytest.approx(1.05)


def test_what_the_engine_saw_is_raised_if_this_version_knows_it():
    info = {"arm_flags": {"spec": ["lossy", "self-tuning", "of-tomorrow"], "other": ["mismatched-draft"]}}
    assert arm_flags("spec", {}, info, ()) == {"lossy", "self-tuning"}
    assert arm_flags("baseline", {}, info, ()) == set()


def test_a_schedule_that_follows_confidence_is_flagged():
    assert arm_flags("spec", {"schedule": "confidence"}, {}, ()) == {"adaptive-k"}


def test_drift_concerns_only_arms_that_are_priced_by_the_calibration():
    info = run(occasion("before", QUIET), occasion("after", [2 * step for step in QUIET]))
    assert arm_flags("spec", ARM, info, [Costs(0.1, 0.1)]) == set()
    assert arm_flags("spec", ARM, info, [Costs(0, 0, repeats=(Costs(0, 0),))]) == {"drifted"}
