import pytest

from specprof.calibrate import calibrate
from specprof.engines.simulated import PrefixEngine
from specprof.errors import EnvironmentError_, UsageError
from specprof.records import Arm, CostSample, EngineConfig, Prompt

CONFIG = EngineConfig(arms=(Arm(id="sim", method="simulated", k=2),), max_tokens=40)
PROMPTS = [Prompt(id="p", task="t", text="one two three " * 20)]


class Unable:
    """An engine that only generates."""

    capabilities = PrefixEngine.capabilities


def test_an_engine_that_cannot_calibrate_is_refused_with_the_way_out():
    with pytest.raises(UsageError, match="cannot measure its costs") as error:
        calibrate(Unable(), CONFIG, PROMPTS)
    assert "--alpha" in error.value.hint


def test_contexts_are_those_asked_for_else_those_of_the_prompts():
    def contexts(*asked):
        (occasion,) = calibrate(PrefixEngine(), CONFIG, PROMPTS, asked, 2)["occasions"]
        return {sample["context"] for sample in occasion["samples"]}

    assert contexts(64, 512) == {64, 512}
    assert contexts() == {80}  # 60 tokens and half of 40


def test_a_configuration_that_the_engine_refuses_is_not_measured():
    wrong = EngineConfig(arms=(Arm(id="sim", method="simulated", k=0),))
    with pytest.raises(UsageError, match="k = 0"):
        calibrate(PrefixEngine(), wrong, PROMPTS)


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        ([], "no sample of kind `plain`"),
        ([CostSample("plain", 64, 0, 1.0)], "no sample of kind `round`"),
        ([CostSample("plain", 64, 0, float("nan"))], "no sound sample"),
        ([None], "no sound sample: None"),
    ],
)
def test_an_engine_that_measures_nothing_gives_no_document(samples, words):
    class Odd(PrefixEngine):
        def calibrate(self, *how):
            return iter(samples)

    with pytest.raises(EnvironmentError_, match=words):
        calibrate(Odd(), CONFIG, PROMPTS)
