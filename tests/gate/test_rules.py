import pytest

from specprof.analysis.estimate import Estimate
from specprof.errors import UsageError
from specprof.gate.rules import parse


@pytest.mark.parametrize(
    ("text", "metric", "op", "bound", "part", "buckets", "where"),
    [
        ("mean_accepted > 1.2", "mean_accepted", ">", 1.2, None, False, {}),
        ("task=code: cost.speedup>=1", "cost.speedup", ">=", 1.0, None, False, {"task": "code"}),
        ("buckets accepted_p10.value < .5", "accepted_p10", "<", 0.5, "value", True, {}),
        ("buckets task=code: requests >= 20", "requests", ">=", 20.0, None, True, {"task": "code"}),
        (
            " arm=a, prompt=128-512,label.lang=한국어 : latency.tpot_ms.p99.high <= 4e1",
            "latency.tpot_ms.p99",
            "<=",
            40.0,
            "high",
            False,
            {"arm": "a", "prompt": "128-512", "label.lang": "한국어"},
        ),
        ("task=a:b: measured.decode > -1", "measured.decode", ">", -1.0, None, False, {"task": "a:b"}),
    ],
)
def test_a_rule_reads_as_it_is_written(text, metric, op, bound, part, buckets, where):
    rule = parse(text)
    assert (rule.metric, rule.op, rule.bound, rule.part) == (metric, op, bound, part)
    assert (rule.buckets, rule.where) == (buckets, where)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "cannot read"),
        ("mean_accepted", "cannot read"),
        ("mean_accepted == 1", "cannot read"),
        ("mean_accepted > fast", "`fast` is not a number"),
        ("mean_accepted > nan", "finite"),
        ("mean_accepted > inf", "finite"),
        ("task: mean_accepted > 1", "not `key=value`"),
        ("tsk=code: mean_accepted > 1", "unknown key `tsk`"),
        ("task=: mean_accepted > 1", "not `key=value`"),
    ],
)
def test_a_rule_that_cannot_be_read_is_named(text, words):
    with pytest.raises(UsageError, match=words):
        parse(text)


def test_a_near_miss_of_a_key_gets_a_suggestion():
    with pytest.raises(UsageError) as caught:
        parse("tsk=code: mean_accepted > 1")
    assert caught.value.hint == "did you mean `task`?"


BELOW, TOUCHING, ACROSS, AT, ABOVE = (
    Estimate(v, low, high, 30)
    for v, low, high in ((0.8, 0.7, 0.9), (0.9, 0.8, 1.0), (1, 0.9, 1.1), (1, 1, 1), (2, 1.5, 3))
)


@pytest.mark.parametrize(
    ("op", "outcomes"),
    [
        (">", ["fail", "fail", "inconclusive", "fail", "pass"]),
        (">=", ["fail", "inconclusive", "inconclusive", "pass", "pass"]),
        ("<", ["pass", "inconclusive", "inconclusive", "fail", "fail"]),
        ("<=", ["pass", "pass", "inconclusive", "pass", "fail"]),
    ],
)
def test_the_whole_interval_decides(op, outcomes):
    rule = parse(f"mean_accepted {op} 1")
    assert [rule.judge(estimate) for estimate in (BELOW, TOUCHING, ACROSS, AT, ABOVE)] == outcomes


def test_a_named_part_is_compared_alone_and_never_undecided():
    assert parse("mean_accepted.value > 0.99").judge(ACROSS) == "pass"
    assert parse("mean_accepted.low > 0.99").judge(ACROSS) == "fail"
    assert parse("mean_accepted.high > 0.99").judge(ACROSS) == "pass"


def test_what_is_null_is_inconclusive():
    value_only = Estimate(value=5.0, n=3, reason="no interval")
    assert parse("accepted_p10 > 1").judge(value_only) == "inconclusive"
    assert parse("accepted_p10.low > 1").judge(value_only) == "inconclusive"
    assert parse("accepted_p10.value > 1").judge(value_only) == "pass"
    assert parse("accepted_p10.value > 1").judge(Estimate.missing("no rounds")) == "inconclusive"
