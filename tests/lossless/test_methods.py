"""Every way of drafting that transformers 5.24 has a tiny model for, sampled: which of them keep the distribution?"""

import pytest
import sampled_methods


@pytest.fixture(scope="module")
def judged(bench, tmp_path_factory):
    result = sampled_methods.judged(bench, tmp_path_factory.mktemp("foreign"))
    return {arm.arm.id: arm for arm in result.arms}


@pytest.mark.parametrize("way", sampled_methods.LOSSLESS)
def test_a_lossless_method_passes(judged, way):
    assert judged[way].verdict.outcome == "lossless", judged[way].verdict.evidence
    assert 0 < judged[way].drafted["accepted"] < judged[way].drafted["drafted"]


@pytest.mark.parametrize("way", sampled_methods.LOSSY)
def test_a_method_that_changes_the_distribution_is_caught(judged, way):
    """Universal decoding in transformers 5.24 puts the draft's probabilities on the wrong tokens."""
    assert judged[way].verdict.outcome == "lossy"
