import pytest

from specprof.capture.arms import Wish, arms_for
from specprof.errors import UsageError
from specprof.records import BASELINE, Capabilities

HF = Capabilities(methods=("none", "draft_model", "prompt_lookup"))


def test_a_draft_speaks_for_draft_model_and_its_absence_for_what_needs_none():
    (with_draft,) = arms_for(Wish(draft="small"), HF, baseline=False)
    (without,) = arms_for(Wish(), HF, baseline=False)
    assert (with_draft.method, with_draft.draft, with_draft.id) == ("draft_model", "small", "draft_model-k4")
    assert (without.method, without.options) == ("prompt_lookup", {"max_matching_ngram_size": 2})


def test_the_baseline_samples_like_the_other_arm_and_drafts_nothing():
    spec, plain = arms_for(Wish(temperature=0.7, top_p=0.9, top_k=5), HF, baseline=True)
    assert (plain.id, plain.method, plain.k) == (BASELINE, "none", 0)
    assert (spec.temperature, spec.top_p, spec.top_k) == (plain.temperature, plain.top_p, plain.top_k) == (0.7, 0.9, 5)


def test_the_threshold_that_is_used_is_the_one_that_is_recorded():
    (default,) = arms_for(Wish(draft="small", schedule="confidence"), HF, baseline=False)
    (given,) = arms_for(Wish(draft="small", schedule="confidence", threshold=0.6), HF, baseline=False)
    assert (default.threshold, given.threshold, default.id) == (0.4, 0.6, "draft_model-k4-confidence")


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (Wish(threshold=0.3), "--threshold"),
        (Wish(draft="small", max_matching_ngram_size=3), "--max-matching-ngram-size"),
    ],
)
def test_a_wish_that_would_change_nothing_is_refused(wish, words):
    with pytest.raises(UsageError, match=words):
        arms_for(wish, HF, baseline=False)


def test_an_engine_that_needs_a_draft_says_so():
    with pytest.raises(UsageError, match="needs a draft"):
        arms_for(Wish(), Capabilities(methods=("none", "draft_model")), baseline=False)
