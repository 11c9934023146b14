import numpy as np
import pytest

from specprof.lossless.warp import probabilities
from specprof.records import Arm

P = np.log([0.5, 0.3, 0.15, 0.05])


def sampling(**settings):
    return Arm(id="a", method="none", **({"temperature": 1.0} | settings))


def test_at_temperature_1_nothing_changes():
    assert probabilities(P, sampling()) == pytest.approx([0.5, 0.3, 0.15, 0.05])


def test_half_the_temperature_squares_the_odds():
    assert probabilities(np.log([0.8, 0.2]), sampling(temperature=0.5)) == pytest.approx([16 / 17, 1 / 17])


def test_top_k_keeps_the_k_likeliest():
    assert probabilities(P, sampling(top_k=2)) == pytest.approx([0.625, 0.375, 0, 0])


def test_top_k_keeps_ties_of_the_kth():
    assert probabilities(np.log([0.5, 0.25, 0.25]), sampling(top_k=2)) == pytest.approx([0.5, 0.25, 0.25])


def test_top_k_above_the_vocabulary_keeps_all():
    assert probabilities(P, sampling(top_k=50)) == pytest.approx([0.5, 0.3, 0.15, 0.05])


def test_top_p_keeps_the_token_that_crosses_the_mass():
    assert probabilities(P, sampling(top_p=0.7)) == pytest.approx([0.625, 0.375, 0, 0])


def test_top_p_counts_the_mass_that_top_k_left():
    """Of (.625, .375) the first alone holds .6; of (.5, .3, …) it would not."""
    assert probabilities(P, sampling(top_k=2, top_p=0.6)) == pytest.approx([1, 0, 0, 0])


def test_rows_are_warped_one_by_one():
    rows = probabilities(np.log([[0.1, 0.9], [0.6, 0.4]]), sampling(top_k=1))
    assert rows == pytest.approx(np.array([[0, 1], [1, 0]]))


@pytest.mark.parametrize("settings", [{"top_k": 5}, {"top_p": 0.8}, {"temperature": 0.7, "top_k": 9, "top_p": 0.6}])
def test_transformers_warps_alike(tiny, settings):
    import torch
    from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    arm = sampling(**settings)
    logits = torch.randn(3, 40, generator=torch.Generator().manual_seed(4))
    scores = TemperatureLogitsWarper(arm.temperature)(None, logits)
    scores = TopKLogitsWarper(arm.top_k or 40)(None, scores)
    scores = TopPLogitsWarper(arm.top_p or 1.0)(None, scores)
    ours = probabilities(logits.log_softmax(-1).numpy(), arm)
    assert ours == pytest.approx(scores.softmax(-1).numpy(), abs=1e-6)
