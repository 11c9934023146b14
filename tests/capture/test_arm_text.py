import pytest

from specprof.capture.arm_text import parse_arm, parse_ks
from specprof.errors import UsageError


def test_the_fields_of_an_arm_are_typed_and_every_other_key_is_an_option():
    name, own = parse_arm("small=method=draft_model,draft=models/a,k=6,schedule=confidence,threshold=0.5,concurrency=1")
    assert (name, own) == (
        "small",
        {
            "method": "draft_model",
            "draft": "models/a",
            "k": 6,
            "schedule": "confidence",
            "threshold": 0.5,
            "concurrency": 1,
        },
    )
    _, own = parse_arm("x=early_exit=3,weight=0.25,fast=True,kernel=flash,limit=nan")
    assert own == {"options": {"early_exit": 3, "weight": 0.25, "fast": True, "kernel": "flash", "limit": "nan"}}
    assert [type(value) for value in own["options"].values()] == [int, float, bool, str, str]


@pytest.mark.parametrize(
    ("text", "draft"),
    [
        ("x=draft=/a=b/c,k=2", "/a=b/c"),
        ('x=draft="/a,b/c",k=2', "/a,b/c"),
        ("x=draft='/a,b/c=d',k=2", "/a,b/c=d"),
        (r"x=draft=C:\models\a,k=2", r"C:\models\a"),
        ("x = draft = a b , k = 2", "a b"),
        ("x=draft=org/name#1,k=2", "org/name#1"),
    ],
)
def test_a_draft_may_hold_any_character_if_a_comma_is_quoted(text, draft):
    assert parse_arm(text) == ("x", {"draft": draft, "k": 2})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("k=4", "arm `k`: `4` is not KEY=VALUE"),
        ("x", "says nothing about `x`"),
        ("x=", "says nothing about `x`"),
        ("=k=4", "no usable name"),
        ("a b=k=4", "no usable name"),
        ("a:b=k=4", "no usable name"),
        ("baseline=k=4", "`baseline` is plain decoding"),
        ("x=method=none", "arm `x` does not draft"),
        ("x=k=two", "arm `x` sets k to `two`"),
        ("x=k=2.5", "arm `x` sets k to `2.5`"),
        ("x=threshold=high", "arm `x` sets threshold to `high`"),
        ("x=k=2,k=3", "arm `x` sets `k` twice"),
        ("x=draft=,k=2", "`draft=` is not KEY=VALUE"),
        ("x=draft=a,b,k=2", "`b` is not KEY=VALUE"),
        ('x=draft="a,k=2', "never closed"),
        ("x=temperature=0.7", "arm `x` sets `temperature`"),
    ],
)
def test_an_arm_that_cannot_be_read_is_named_with_what_is_wrong(text, words):
    with pytest.raises(UsageError) as caught:
        parse_arm(text)
    assert words in str(caught.value)
    assert caught.value.hint


def test_a_sweep_is_a_list_of_whole_numbers_without_repeats():
    assert parse_ks("4") == (4,)
    assert parse_ks("2, 4,6") == (2, 4, 6)
    for text, words in {"2,x": "no list", "": "no list", "2,,4": "no list", "2,4,2": "names 2 twice"}.items():
        with pytest.raises(UsageError, match=words):
            parse_ks(text)
