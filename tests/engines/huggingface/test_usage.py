import re

import pytest

from specprof.engines.huggingface import HuggingFaceEngine
from specprof.errors import UsageError
from specprof.records import Arm, EngineConfig

DRAFT = {"method": "draft_model", "draft": "d", "k": 4}
LOOKUP = {"method": "prompt_lookup", "k": 4}


@pytest.mark.parametrize(
    ("arm", "message"),
    [
        ({"method": "medusa", "k": 4}, "unknown method in arm `a` `medusa`"),
        ({"method": "draft_model", "k": 4}, "arm `a` has no draft model"),
        (DRAFT | {"k": 0}, "arm `a` drafts k = 0 tokens per round"),
        (LOOKUP | {"k": -1}, "arm `a` drafts k = -1 tokens per round"),
        (DRAFT | {"schedule": "heuristic"}, "unknown schedule in arm `a` `heuristic`"),
        (DRAFT | {"threshold": 0.4}, "arm `a` has a threshold but a constant k"),
        (DRAFT | {"schedule": "confidence", "threshold": 1.0}, "arm `a` has threshold 1.0"),
        (LOOKUP | {"schedule": "confidence"}, "arm `a`: `prompt_lookup` has no confidence to stop at"),
        (LOOKUP | {"options": {"max_matching_ngram_size": 0}}, "arm `a` has max_matching_ngram_size `0`"),
        (LOOKUP | {"options": {"ngram": 2}}, "unknown option of method `prompt_lookup` `ngram`"),
        (DRAFT | {"options": {"ngram": 2}}, "unknown option of method `draft_model` `ngram`"),
        (DRAFT | {"options": {"assistant_ensemble_weight": 1}}, "arm `a` has assistant_ensemble_weight `1`"),
        (DRAFT | {"options": {"assistant_ensemble_weight": 1.5}}, "arm `a` has assistant_ensemble_weight `1.5`"),
        ({"method": "universal", "k": 4}, "arm `a` has no draft model"),
        ({"method": "universal", "draft": "d", "k": 4, "options": {"ngram": 2}}, "`ngram` is no option of method"),
        ({"method": "early_exit", "k": 4}, "arm `a` names no layer to exit at"),
        ({"method": "early_exit", "k": 4, "options": {"early_exit": 0}}, "arm `a` has early_exit `0`"),
        ({"method": "early_exit", "k": 4, "options": {"early_exit": "4"}}, "arm `a` has early_exit `4`"),
        ({"method": "early_exit", "k": 4, "options": {"early_exit": True}}, "arm `a` has early_exit `True`"),
        ({"method": "mtp", "k": 1, "draft": "d"}, "arm `a`: `mtp` uses no draft model"),
        ({"method": "mtp", "k": 1, "schedule": "confidence"}, "arm `a`: `mtp` has no confidence to stop at"),
        (DRAFT | {"concurrency": 2}, "arm `a` asks for concurrency 2"),
        (DRAFT | {"temperature": -0.5}, "arm `a` has temperature -0.5"),
        (DRAFT | {"top_p": 0.9}, "arm `a` sets top_p or top_k but decodes greedily"),
        (DRAFT | {"temperature": 1.0, "top_p": 1.5}, "arm `a` has top_p 1.5"),
        (DRAFT | {"temperature": 1.0, "top_k": 0}, "arm `a` has top_k 0"),
        (DRAFT | {"draft_sampling": "greedy"}, "arm `a` sets `draft_sampling`"),
        (DRAFT | {"rejection_method": "block"}, "arm `a` sets `rejection_method`"),
        ({"method": "none", "concurrency": 2}, "arm `a` asks for concurrency 2"),
    ],
)
def test_an_arm_that_cannot_run_is_refused_without_looking_at_the_model(arm, message):
    config = EngineConfig(arms=(Arm(id="a", **arm),), model="/no/such/model")
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        HuggingFaceEngine().check(config)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": None}, "no target model given"),
        ({"max_tokens": 0}, "`0` new tokens leave nothing to measure"),
        ({"threads": 0}, "`0` threads cannot run anything"),
        ({"dtype": "float23"}, "unknown dtype `float23`"),
        ({"device": "tpu"}, "unknown device `tpu`"),
        ({"options": {"num_beams": "4"}}, "`num_beams=4`: with beams transformers ignores the draft"),
        ({"options": {"beams": "4"}}, "unknown engine option `beams`"),
        ({"options": {"trust_remote_code": "yes"}}, "unknown value of `trust_remote_code` `yes`"),
    ],
)
def test_a_configuration_that_cannot_run_is_refused_without_looking_at_the_model(settings, message):
    config = EngineConfig(**({"arms": (Arm(id="a", **LOOKUP),), "model": "/no/such/model"} | settings))
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        HuggingFaceEngine().check(config)
    assert caught.value.hint


def test_a_near_miss_is_answered_with_the_right_word():
    config = EngineConfig(arms=(), model="m", dtype="float23")
    with pytest.raises(UsageError) as caught:
        HuggingFaceEngine().check(config)
    assert caught.value.hint == "did you mean `float32`?"


def test_a_draft_that_sampling_would_take_apart_is_not_used_greedily_beside_it():
    arms = [Arm(id=f"t{t}", method="universal", draft="d", k=2, temperature=t) for t in (0.0, 1.0)]
    with pytest.raises(UsageError, match="both greedily and sampled"):
        HuggingFaceEngine().check(EngineConfig(arms=tuple(arms), model="m"))
