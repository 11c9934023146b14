import pytest

from specprof.config.env import settings
from specprof.errors import UsageError


def test_variables_of_others_and_the_debug_switch_are_no_settings():
    assert list(settings({"HOME": "/", "SPECPROFILE": "x", "SPECPROF_DEBUG": "1"})) == []


@pytest.mark.parametrize(
    ("name", "text", "setting"),
    [
        ("SPECPROF_RUN_K", " 4 ", ("run", "k", "4")),
        ("SPECPROF_RUN_K", "2, 4", ("run", "k", "2, 4")),
        ("SPECPROF_RUN_ARM", "a=k=2,draft=x; b=k=3", ("run", "arm", ["a=k=2,draft=x", "b=k=3"])),
        ("SPECPROF_RUN_DETAIL", "tokens", ("run", "detail", "tokens")),
        ("SPECPROF_RUN_MAX_NEW_TOKENS", "64", ("run", "max_new_tokens", 64)),
        ("SPECPROF_REPORT_ALPHA_ROUND", ".5", ("report", "alpha_round", 0.5)),
        ("SPECPROF_RUN_MODEL", "tiny", ("run", "model", "tiny")),
        ("SPECPROF_RUN_BASELINE", "yes", ("run", "baseline", True)),
        ("SPECPROF_RUN_BASELINE", "FALSE", ("run", "baseline", False)),
        ("SPECPROF_GATE_INCONCLUSIVE", "3", ("gate", "inconclusive", "3")),
        ("SPECPROF_RUN_PROMPTS", "a b.jsonl;c", ("run", "prompts", ["a b.jsonl", "c"])),
        ("SPECPROF_GATE_RULES", "arm=a,task=b: m > 1; n < 2;", ("gate", "rules", ["arm=a,task=b: m > 1", "n < 2"])),
    ],
)
def test_a_variable_gives_the_value_of_its_kind(name, text, setting):
    assert list(settings({name: text})) == [setting]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("SPECPROF_RUN_SEED", "4.5", "a whole number"),
        ("SPECPROF_RUN_K", "4.5", 'a whole number, or several as "2,4,6"'),
        ("SPECPROF_RUN_K", "2,,4", 'a whole number, or several as "2,4,6"'),
        ("SPECPROF_RUN_TOP_P", "high", "a number"),
        ("SPECPROF_REPORT_PHI", "inf", "a number"),
        ("SPECPROF_RUN_BASELINE", "maybe", "true or false"),
        ("SPECPROF_RUN_MODEL", " ", "text that is not empty"),
        ("SPECPROF_GATE_INCONCLUSIVE", "pass", '"fail" or "warn" or "3"'),
    ],
)
def test_a_variable_of_a_wrong_kind_is_refused(name, text, expected):
    with pytest.raises(UsageError) as caught:
        list(settings({name: text}))
    assert str(caught.value) == f"environment variable `{name}` is `{text}`"
    assert caught.value.hint == f"it must be {expected}"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("SPECPROF_RUN_MODLE", "did you mean `SPECPROF_RUN_MODEL`?"),
        ("SPECPROF_DEBUGG", "did you mean `SPECPROF_DEBUG`?"),
        ("SPECPROF_QQQQQQQQQQQQQQQQQQ", "variables are called `SPECPROF_<SECTION>_<KEY>`"),
    ],
)
def test_an_unknown_variable_of_ours_is_refused(name, hint):
    with pytest.raises(UsageError) as caught:
        list(settings({name: "1"}))
    assert (str(caught.value), caught.value.hint) == (f"environment variable `{name}` is unknown", hint)
