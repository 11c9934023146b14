import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

from specprof.capture.arms import Wish, arms_for
from specprof.errors import UsageError
from specprof.records import BASELINE, Capabilities

HF = Capabilities(methods=("none", "draft_model", "universal", "prompt_lookup"))


def arms(*texts, **flags):
    return arms_for(Wish(arm=texts, **flags), HF, baseline=False)


def test_a_draft_speaks_for_draft_model_and_its_absence_for_what_needs_none():
    (with_draft,) = arms(draft="small")
    (without,) = arms()
    assert (with_draft.method, with_draft.draft, with_draft.id) == ("draft_model", "small", "draft_model-k4")
    assert (without.method, without.options) == ("prompt_lookup", {"max_matching_ngram_size": 2})


def test_the_baseline_samples_like_the_other_arm_and_drafts_nothing():
    spec, plain = arms_for(Wish(temperature=0.7, top_p=0.9, top_k=5), HF, baseline=True)
    assert (plain.id, plain.method, plain.k) == (BASELINE, "none", 0)
    assert (spec.temperature, spec.top_p, spec.top_k) == (plain.temperature, plain.top_p, plain.top_k) == (0.7, 0.9, 5)


def test_the_threshold_that_is_used_is_the_one_that_is_recorded():
    (default,) = arms(draft="small", schedule="confidence")
    (given,) = arms(draft="small", schedule="confidence", threshold=0.6)
    assert (default.threshold, given.threshold, default.id) == (0.4, 0.6, "draft_model-k4-confidence")


def test_several_k_give_an_arm_each():
    assert [(arm.id, arm.k) for arm in arms(draft="small", k="2,4,6")] == [
        ("draft_model-k2", 2),
        ("draft_model-k4", 4),
        ("draft_model-k6", 6),
    ]


def test_a_sweep_applies_to_the_arms_that_name_no_k():
    swept = arms("a=draft=small", "b=draft=large,k=3", k="2,6")
    assert [(arm.id, arm.draft, arm.k) for arm in swept] == [
        ("a-k2", "small", 2),
        ("a-k6", "small", 6),
        ("b", "large", 3),
    ]
    assert [(arm.id, arm.k) for arm in arms("a=draft=small", k="5")] == [("a", 5)]


def test_arms_differ_in_drafts_methods_and_options_and_sample_alike():
    small, early, lookup = arms(
        "small=draft=s,k=6,schedule=confidence",
        "early=method=early_exit,early_exit=2,k=3",
        "lookup=method=prompt_lookup,max_matching_ngram_size=3,k=8",
        temperature=0.5,
        threshold=0.7,
    )
    assert (small.method, small.draft, small.schedule, small.threshold) == ("draft_model", "s", "confidence", 0.7)
    assert (early.method, early.options, early.threshold) == ("early_exit", {"early_exit": 2}, None)
    assert (lookup.k, lookup.options) == (8, {"max_matching_ngram_size": 3})
    assert {arm.temperature for arm in (small, early, lookup)} == {0.5}


def test_flags_are_what_an_arm_takes_where_it_says_nothing():
    plain, threshold, other, lookup = arms(
        "plain=schedule=constant,k=2",
        "threshold=k=2",
        "other=method=universal,draft=o,k=2",
        "lookup=method=prompt_lookup,schedule=constant,k=2",
        draft="small",
        schedule="confidence",
    )
    assert [arm.draft for arm in (plain, threshold, other, lookup)] == ["small", "small", "o", None]
    assert [arm.threshold for arm in (plain, threshold, other)] == [None, 0.4, 0.4]
    assert lookup.options == {"max_matching_ngram_size": 2}
    (universal,) = arms("a=method=universal", draft="small")
    assert universal.draft == "small"


@pytest.mark.parametrize(
    ("texts", "flags", "words"),
    [
        ((), {"threshold": 0.3}, "--threshold"),
        ((), {"draft": "small", "max_matching_ngram_size": 3}, "--max-matching-ngram-size"),
        (("a=method=prompt_lookup",), {"draft": "small"}, "no arm takes `--draft small`"),
        (("a=draft=x,k=3",), {"k": "2,4"}, "`--k 2,4` changes nothing"),
        (("a=draft=x,k=3",), {"k": "7"}, "`--k 7` changes nothing"),
        (("a=method=prompt_lookup",), {"method": "bogus"}, "`--method bogus` changes nothing"),
        (("a=draft=x,schedule=constant",), {"schedule": "confidence"}, "`--schedule confidence` changes nothing"),
        (("a=draft=x,schedule=confidence,threshold=0.5",), {"threshold": 0.5}, "`--threshold 0.5` changes nothing"),
        (("a=draft=x", "b=draft=x,k=2"), {"draft": "x"}, "`--draft x` changes nothing"),
        (("a=draft=x,threshold=0.3",), {}, "schedule `constant` knows none"),
        (("a=draft=x", "a=draft=y"), {}, "two arms are called `a`"),
        (("a=draft=x", "a-k2=draft=y,k=3"), {"k": "2,4"}, "two arms are called `a-k2`"),
        (("a=draft=x,k=4", "b=k=4"), {"draft": "x"}, "`a` and `b` differ in nothing but the name"),
        (("a=draft=m/d", "b=draft=./m/d/"), {}, "`a` and `b` differ in nothing but the name"),
    ],
)
def test_a_wish_that_would_change_nothing_is_refused(texts, flags, words):
    with pytest.raises(UsageError, match=words):
        arms(*texts, **flags)


def test_an_engine_that_needs_a_draft_says_so():
    with pytest.raises(UsageError, match="needs a draft"):
        arms_for(Wish(), Capabilities(methods=("none", "draft_model")), baseline=False)


def test_the_arms_on_the_page_are_the_ones_that_it_says_they_are():
    page = (Path(__file__).parents[2] / "docs" / "run.md").read_text()
    command = re.search(r"specprof run [^\n]*runs/many.*?(?=```)", page, re.DOTALL)[0].replace("\\\n", " ")
    words = shlex.split(command)
    texts = [word for flag, word in pairwise(words) if flag == "--arm"]
    listed = re.search(r"This run has (.*?) and\n", page, re.DOTALL)[1]
    assert [arm.id for arm in arms(*texts, k=words[words.index("--k") + 1])] == re.findall(r"`(\S+)`", listed)
