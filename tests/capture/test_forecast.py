"""Quantiles of t are from the printed tables: 4.303 for 2 degrees of freedom, 12.706 for 1, 2.262 for 9."""

import math

import pytest

from specprof.capture.forecast import Cell, Earlier, Pace, cells, half_width, seconds
from specprof.records import Arm, Prompt

SMALL = Arm(id="small-k4", method="draft_model", draft="s", k=4)


def row(arm="a", task="code", prompt="p", accepted=6, rounds=3, latency=2_000_000, **more):
    fields = {"arm": arm, "task": task, "prompt_id": prompt, "accepted_total": accepted, "rounds": rounds}
    rest = {
        "latency_us": latency,
        "conversation_id": None,
        "phase": "measure",
        "complete": True,
        "finish_reason": "eos",
    }
    return fields | rest | more


def test_the_half_width_is_t_times_the_spread_over_the_root_of_the_clusters():
    assert half_width(1.5, 3) == pytest.approx(4.303 * 1.5 / math.sqrt(3), rel=1e-3)
    assert half_width(2.0, 2) == pytest.approx(12.706 * 2 / math.sqrt(2), rel=1e-3)
    assert half_width(0.0, 10) == 0
    assert half_width(1.0, 1) is None


def test_prompts_are_counted_by_task_and_bucket_and_a_conversation_is_one_cluster():
    prompts = [
        Prompt("a", "code", text="xx"),
        Prompt("b", "chat", text="x", conversation_id="c"),
        Prompt("d", "chat", text="x", conversation_id="c"),
        Prompt("e", "chat", text="xx"),
    ]
    assert cells(prompts, lambda prompt: str(len(prompt.text))) == [
        Cell("code", "2", 1, 1),
        Cell("chat", "1", 2, 1),
        Cell("chat", "2", 1, 1),
    ]


def test_enough_clusters_are_enough():
    assert Cell("code", "0-128", 40, 40).until(10) == Cell("code", "0-128", 10, 10)
    assert Cell("chat", None, 60, 20).until(5) == Cell("chat", None, 15, 5)  # three turns each
    assert Cell("chat", None, 60, 20).until(50) == Cell("chat", None, 60, 20)
    assert Cell("chat", None, 60, 20).until(None) == Cell("chat", None, 60, 20)


def test_the_pace_of_an_arm_is_its_mean_time_and_the_spread_of_its_clusters():
    rows = [
        row(prompt="p", accepted=6, rounds=3, latency=2_000_000),  # 2 accepted per round
        row(prompt="p", accepted=12, rounds=3, latency=3_000_000),  # 4, so that prompt p has 3
        row(prompt="q", accepted=5, rounds=5, latency=4_000_000),  # 1
        row(prompt="w", phase="warmup"),
        row(prompt="s", finish_reason="skipped", rounds=0, latency=None),
        row(prompt="t", complete=False),
    ]
    earlier = Earlier.of({"arms": {"a": SMALL.to_dict()}}, rows)
    pace = earlier.pace(SMALL, "code")
    assert pace == Pace(requests=3, seconds=3.0, spread=pytest.approx(math.sqrt(2)))
    assert earlier.pace(SMALL, "a task that it had not") == pace


def test_one_cluster_shows_no_spread_and_plain_decoding_shows_none_either():
    (only,) = {Earlier.of({"arms": {"a": SMALL.to_dict()}}, [row()]).pace(SMALL, "code")}
    assert (only.seconds, only.spread) == (2.0, None)
    plain = Earlier.of({"arms": {"a": SMALL.to_dict()}}, [row(rounds=0), row(prompt="q", rounds=0)])
    assert plain.pace(SMALL, "code").spread is None


def test_an_arm_goes_by_the_nearest_k_of_the_same_drafter():
    arms = {f"s{k}": Arm(id="", method="draft_model", draft="s", k=k).to_dict() for k in (2, 8)}
    arms["other"] = Arm(id="", method="draft_model", draft="t", k=4).to_dict()
    rows = [row(arm=arm, latency=us) for arm, us in (("s2", 1_000_000), ("s8", 5_000_000), ("other", 9_000_000))]
    earlier = Earlier.of({"arms": arms}, rows)
    assert earlier.pace(SMALL, "code").seconds == 1
    assert earlier.pace(Arm(id="x", method="draft_model", draft="s", k=7), "code").seconds == 5
    assert earlier.pace(Arm(id="x", method="prompt_lookup", k=4), "code") is None


def test_the_time_of_an_arm_is_that_of_its_requests_task_by_task():
    rows = [row(task="code", latency=1_000_000), row(task="chat", latency=4_000_000)]
    earlier = Earlier.of({"arms": {"a": SMALL.to_dict()}}, rows)
    planned = [Cell("code", "0-128", 10, 10), Cell("chat", "0-128", 5, 5)]
    assert seconds(planned, SMALL, 2, earlier) == 2 * (10 * 1 + 5 * 4)
    assert seconds(planned, Arm(id="x", method="prompt_lookup", k=4), 2, earlier) is None
    untimed = Earlier.of({"arms": {"a": SMALL.to_dict()}}, [row(latency=None)])
    assert seconds(planned, SMALL, 1, untimed) is None
