from dataclasses import replace

import pytest

from specprof.calibrate.contexts import contexts_for, distinct
from specprof.engines.calibration import widths_up_to
from specprof.engines.simulated import PrefixEngine
from specprof.errors import UsageError
from specprof.records import Arm, EngineConfig, Prompt

PROMPT = Prompt(id="a", task="t", text="word " * 100)
LONG = Prompt(id="b", task="t", text="word " * 400)
CONFIG = EngineConfig(arms=(Arm("a", "simulated", k=4),), max_tokens=56)


def test_three_thirds_are_stood_for_by_their_medians():
    # thirds of 100, of 400 and of 1600 tokens, in multiples of 8
    assert distinct([100] * 10 + [400] * 10 + [1600] * 10, None) == (96, 400, 1600)


def test_contexts_that_are_near_each_other_are_one():
    assert distinct([96, 100, 104, 110, 120], None) == (96,)
    assert distinct([64] * 5 + [90] * 5 + [97] * 5, None) == (64, 96)


def test_contexts_leave_room_for_the_rounds_that_are_timed():
    assert distinct([1000], 448) == (448,)
    assert distinct([10, 1000, 3000], 96) == (8, 96)


@pytest.mark.parametrize(("k", "limit"), [(1, 100), (4, 100), (16, 160), (30, 512), (32, 300)])
def test_the_contexts_that_are_chosen_leave_the_room_that_the_widths_take(k, limit):
    """A round of width w decodes up to w tokens, once for each width; a prompt of 400 tokens fills every model."""
    config = EngineConfig(arms=(Arm("a", "simulated", k=k),), max_tokens=56)
    (context,) = contexts_for(Counting(), [PROMPT, LONG], config, {"context_tokens": limit})[-1:]
    assert 1 <= context <= limit - sum(widths_up_to(k))


def test_a_model_without_room_for_any_context_is_told_what_to_lower():
    config = EngineConfig(arms=(Arm("a", "simulated", k=30),))
    with pytest.raises(UsageError, match="k = 30 takes 186 tokens beside the context, and the model has 160") as error:
        contexts_for(Counting(), [PROMPT], config, {"context_tokens": 160})
    assert "lower `--k`" in error.value.hint


class Counting(PrefixEngine):
    def count_tokens(self, prompt):
        return len(prompt.text.split())


def test_a_context_is_the_prompt_and_half_of_the_answer():
    assert contexts_for(Counting(), [PROMPT], CONFIG, {}) == (128,)
    assert contexts_for(Counting(), [replace(PROMPT, output_tokens=200)], CONFIG, {}) == (200,)


def test_with_a_fixed_length_the_wish_of_a_prompt_counts_no_more_than_in_the_run():
    fixed = replace(CONFIG, fixed_length=True)
    assert contexts_for(Counting(), [replace(PROMPT, output_tokens=2000)], fixed, {}) == (128,)


def test_the_context_of_an_encoder_is_the_prompt_alone():
    assert contexts_for(Counting(), [PROMPT], CONFIG, {"encoder_decoder": True}) == (96,)


def test_an_engine_that_cannot_count_is_calibrated_at_one_context():
    class Silent:
        pass

    assert contexts_for(Silent(), [PROMPT], CONFIG, {}) == (256,)
    assert contexts_for(Silent(), [PROMPT], CONFIG, {"context_tokens": 128}) == (102,)  # 10 + 2·4 + 8 less
