import pytest

from specprof.analysis.calibration import Calibration
from specprof.analysis.cost import Costs
from specprof.analysis.pricing import pricing
from specprof.records import Arm

ARM = Arm("spec", "draft_model", k=4).to_dict()


def occasion(draft_us, arm="spec", batch=1, when="before"):
    """One repeat at context 64 with t₁ = 100 µs; α₀ follows from `draft_us`, as one length is drafted."""
    place = {"context": 64, "repeat": 0, "batch": batch}
    samples = [
        {"kind": "plain", "us": 100, **place},
        {"kind": "round", "us": 100, "width": 0, **place},
        {"kind": "round", "us": 110, "width": 4, **place},
        {"kind": "draft", "us": draft_us, "width": 4, "arm": arm, **place},
    ]
    return {"when": when, "samples": samples}


def test_a_run_is_priced_by_all_occasions_of_its_own_calibration():
    run = {"arms": {"spec": ARM}, "calibration": [occasion(20), occasion(40, when="after")]}
    (costs,) = pricing(run, None)(ARM)
    assert (costs.alpha_round, len(costs.repeats)) == (pytest.approx(0.3), 2)


def test_given_costs_go_before_a_calibration():
    run = {"arms": {"spec": ARM}, "calibration": [occasion(20)]}
    assert pricing(run, Costs(0.5, 0))(ARM) == (Costs(0.5, 0),)


def test_costs_of_a_file_go_before_those_of_the_run_and_know_arms_by_their_drafter():
    run = {"arms": {"spec": ARM}, "calibration": [occasion(20)]}
    file = Calibration([occasion(80, arm="other-name")], {"other-name": ARM | {"k": 9}})
    (costs,) = pricing(run, file)(ARM)
    assert costs.alpha_round == pytest.approx(0.8)


@pytest.mark.parametrize("run", [{}, {"calibration": None, "arms": {"spec": ARM}}, {"calibration": []}])
def test_a_run_without_a_calibration_is_unpriced(run):
    assert pricing(run, None)(ARM) == ()


def test_of_several_batches_the_one_nearest_to_the_concurrency_counts():
    run = {"arms": {"spec": ARM}, "calibration": [occasion(20), occasion(60, batch=16)]}
    assert [pricing(run, None)(ARM | {"concurrency": n})[0].batch for n in (1, 12, 16)] == [1, 16, 16]
