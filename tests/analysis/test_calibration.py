import random

import pytest

from specprof.analysis.calibration import costs_from, samples_of
from specprof.engines.simulated import PrefixEngine
from specprof.engines.simulation import Truth
from specprof.records import Arm, CostSample

ARM = Arm("spec", "draft_model", draft="small", k=4).to_dict()
ARMS = {"spec": ARM}
# t₁ = 100 µs: φ = .05, v(2) = 1.2, v(4) = 1.6, α = .1, α₀ = .02, ψ = 3
ROUNDS, DRAFTS = {0: 105, 2: 125, 4: 165}, {1: 12, 4: 42}


def repeat(number=0, scale=1.0, context=64, batch=1, arm="spec", rounds=ROUNDS, drafts=DRAFTS, setup=300):
    place = {"context": context, "repeat": number, "batch": batch}
    yield CostSample("plain", us=100 * scale, **place)
    yield from (CostSample("round", us=us * scale, width=width, **place) for width, us in rounds.items())
    yield from (CostSample("draft", us=us * scale, width=width, arm=arm, **place) for width, us in drafts.items())
    yield CostSample("setup", us=setup * scale, arm=arm, **place)


def test_the_costs_of_a_repeat_whose_answer_can_be_read_off():
    (costs,) = costs_from(repeat(), ARM, ARMS)
    assert (costs.alpha, costs.alpha_round, costs.phi) == pytest.approx((0.1, 0.02, 0.05))
    assert dict(costs.widths) == pytest.approx({2: 1.2, 4: 1.6})
    assert costs.slope(4) == pytest.approx(0.15)
    assert (costs.per_request, costs.step_us) == (3, 100)
    assert (costs.regime, costs.context, costs.batch, costs.source) == ("context 64", 64, 1, "measured")
    assert costs.absent == frozenset()


def test_a_machine_that_slows_down_between_repeats_changes_no_cost():
    samples = [sample for number, scale in enumerate((1, 3, 0.5)) for sample in repeat(number, scale)]
    (costs,) = costs_from(samples, ARM, ARMS)
    for one in (costs, *costs.repeats):
        assert (one.alpha, one.alpha_round, one.phi, one.slope(2)) == pytest.approx((0.1, 0.02, 0.05, 0.1))
    assert [one.step_us for one in costs.repeats] == [100, 300, 50]


def test_each_cost_is_its_median_over_the_repeats():
    """α of .1, .2 and 1: the median is .2, whatever the other costs do."""
    drafts = ({1: 12, 4: 42}, {1: 22, 4: 82}, {1: 102, 4: 402})
    samples = [sample for number, draft in enumerate(drafts) for sample in repeat(number, drafts=draft)]
    (costs,) = costs_from(samples, ARM, ARMS)
    assert (costs.alpha, costs.alpha_round, costs.phi) == pytest.approx((0.2, 0.02, 0.05))
    assert [one.alpha for one in costs.repeats] == pytest.approx([0.1, 0.2, 1.0])


def test_several_samples_of_a_kind_in_one_repeat_are_taken_together():
    """Plain steps of 90, 100 and 500 µs: t₁ = 100. Drafts of 1 token in 12 and 22, of 3 in 42 µs: by least squares
    x = 1, 1, 3 and t = .12, .22, .42 have the slope .125 and pass (5/3, .76/3)."""
    extra = [CostSample("plain", 64, 0, us) for us in (90, 500)]
    drafts = [CostSample("draft", 64, 0, us, width, "spec") for width, us in ((1, 12), (1, 22), (3, 42))]
    (costs,) = costs_from([*repeat(drafts={}), *extra, *drafts], ARM, ARMS)
    assert costs.step_us == 100
    assert costs.alpha == pytest.approx(0.125)
    assert costs.alpha_round == pytest.approx(0.76 / 3 - 0.125 * 5 / 3)


def test_negative_costs_stay_as_measured():
    (costs,) = costs_from(repeat(rounds={0: 95, 1: 81}, drafts={1: 1, 4: 22}), ARM, ARMS)
    assert costs.phi == pytest.approx(-0.05)
    assert dict(costs.widths) == pytest.approx({1: 0.86})
    assert costs.alpha_round == pytest.approx(-0.06)


@pytest.mark.parametrize("drafts", [{4: 42}, {0: 42}])
def test_one_drafted_length_cannot_tell_a_token_from_a_round(drafts):
    (costs,) = costs_from(repeat(drafts=drafts), ARM, ARMS)
    assert (costs.alpha, costs.alpha_round) == (0, pytest.approx(0.42))
    assert costs.longest == max(drafts)


def test_a_context_and_a_batch_make_a_regime():
    samples = [*repeat(context=512), *repeat(context=64), *repeat(context=64, batch=8)]
    regimes = [(costs.regime, costs.context, costs.batch) for costs in costs_from(samples, ARM, ARMS)]
    assert regimes == [("context 64", 64, 1), ("context 64, batch 8", 64, 8), ("context 512", 512, 1)]


def test_arms_that_differ_in_k_alone_share_their_drafter():
    k8, other = ARM | {"k": 8}, ARM | {"draft": "another"}
    arms = {"spec": ARM, "k8": k8, "other": other}
    (costs,) = costs_from(repeat(), k8, arms)
    assert costs.alpha == pytest.approx(0.1)
    assert costs_from(repeat(), other, arms) == ()


@pytest.mark.parametrize("lost", ["plain", "round", "draft"])
def test_a_repeat_that_was_cut_short_does_not_count(lost):
    """The second repeat has other drafts, and of its rounds at most the widest."""
    whole = repeat(1, drafts={1: 100, 4: 400})
    cut = [sample for sample in whole if sample.kind != lost or (lost, sample.width) == ("round", 4)]
    (costs,) = costs_from([*repeat(0), *cut], ARM, ARMS)
    assert len(costs.repeats) == 1
    assert costs.alpha == pytest.approx(0.1)


def test_nothing_whole_gives_no_costs():
    assert costs_from([CostSample("plain", 64, 0, 100)], ARM, ARMS) == ()
    assert costs_from(repeat(scale=0.0), ARM, ARMS) == ()


def test_repeats_of_two_occasions_are_different_ones():
    fields = {"kind": "plain", "context": 64, "us": 100}
    occasions = [{"samples": [fields | {"repeat": 0}, fields | {"repeat": 1}]}, {"samples": [fields | {"repeat": 0}]}]
    assert [sample.repeat for sample in samples_of(occasions)] == [0, 1, 2]


def test_the_truth_of_a_simulation_is_recovered():
    """61 repeats whose shared noise is 5 % and own noise 1 %: the median of a cost has an error of about .2 %."""
    truth = Truth(alpha=0.2, alpha_round=0.04, beta=0.03, phi=0.06)
    arm = Arm("spec", "simulated", k=6)
    samples = PrefixEngine(truth).calibrate([arm], [64], 61, [])
    (costs,) = costs_from(samples, arm.to_dict(), {"spec": arm.to_dict()})
    assert costs.alpha == pytest.approx(0.2, abs=0.003)
    assert costs.alpha_round == pytest.approx(0.04, abs=0.009)
    assert costs.phi == pytest.approx(0.06, abs=0.009)
    assert dict(costs.widths) == pytest.approx({w: 1 + 0.03 * w for w in range(1, 7)}, abs=0.012)
    assert costs.per_request == 0


def test_the_order_of_the_samples_does_not_matter():
    samples = [sample for number, scale in enumerate((1, 3)) for sample in repeat(number, scale)]
    shuffled = random.Random(1).sample(samples, len(samples))
    (one,), (other,) = costs_from(samples, ARM, ARMS), costs_from(shuffled, ARM, ARMS)
    assert (one.alpha, one.phi) == pytest.approx((other.alpha, other.phi))
    assert dict(one.widths) == pytest.approx(dict(other.widths))
    assert [one.step_us for one in one.repeats] == [one.step_us for one in other.repeats] == [100, 300]
