from specprof.calibrate.contexts import contexts_for, distinct
from specprof.engines.simulated import PrefixEngine
from specprof.records import Prompt


def test_three_thirds_are_stood_for_by_their_medians():
    # thirds of 100, of 400 and of 1600 tokens, in multiples of 8
    assert distinct([100] * 10 + [400] * 10 + [1600] * 10, None) == (96, 400, 1600)


def test_contexts_that_are_near_each_other_are_one():
    assert distinct([96, 100, 104, 110, 120], None) == (96,)
    assert distinct([64] * 5 + [90] * 5 + [97] * 5, None) == (64, 96)


def test_contexts_leave_room_for_the_rounds_that_are_timed():
    assert distinct([1000], 512) == (448,)
    assert distinct([10, 1000, 3000], 160) == (8, 96)


class Counting(PrefixEngine):
    def count_tokens(self, prompt):
        return len(prompt.text.split())


def test_a_context_is_the_prompt_and_half_of_the_answer():
    prompts = [Prompt(id="a", task="t", text="word " * 100)]
    assert contexts_for(Counting(), prompts, 56, {}) == (128,)
    longer = [Prompt(id="a", task="t", text="word " * 100, output_tokens=200)]
    assert contexts_for(Counting(), longer, 56, {}) == (200,)


def test_an_engine_that_cannot_count_is_calibrated_at_one_context():
    class Silent:
        pass

    assert contexts_for(Silent(), [Prompt(id="a", task="t", text="x")], 56, {}) == (256,)
