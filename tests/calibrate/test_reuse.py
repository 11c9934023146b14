import logging
from pathlib import Path

import pytest

from specprof.calibrate import CostFile, adopt
from specprof.calibrate.file import HOLDS_FOR
from specprof.capture.machine import describe_machine
from specprof.errors import UsageError
from specprof.records import Arm

HOLDS = {
    "engine": "e",
    "engine_version": "1",
    "target": "m",
    "weights": {"m": {"sha256": "1"}, "d": {"sha256": "2"}},
    "dtype": "float32",
    "device": "cpu",
    "gpu": None,
    "threads": 2,
}
DRAFT = Arm(id="draft", method="draft_model", draft="d", k=4)
LOOKUP = Arm(id="lookup", method="prompt_lookup", k=4)


def sample(arm=None):
    return {"kind": "draft" if arm else "plain", "context": 64, "repeat": 0, "us": 5.0, "width": 1, "arm": arm}


def costs(*arms, **changes):
    occasion = {"when": "calibrate", "at": "then", "load_1m": None, "samples": [sample(), *map(sample, arms)]}
    content = {
        **HOLDS,
        "machine": describe_machine(),
        "arms": {arm.id: arm.to_dict() for arm in (DRAFT, LOOKUP)},
        "occasions": [occasion],
    }
    return CostFile(Path("costs.json"), "abc", content | changes)


def info(*arms, **changes):
    return {**HOLDS, "machine": describe_machine(), "arms": {arm.id: arm.to_dict() for arm in arms}} | changes


def test_samples_come_under_the_run_s_own_arm_of_the_same_drafter():
    fast = Arm(id="fast", method="draft_model", draft="d", k=8)
    (occasion,) = adopt(costs("draft", "lookup"), info(fast, Arm(id="baseline", method="none")))
    assert [s["arm"] for s in occasion["samples"]] == [None, "fast"]
    assert (occasion["when"], occasion["at"], occasion["file"], occasion["sha256"]) == (
        "file",
        "then",
        "costs.json",
        "abc",
    )


def test_of_arms_that_share_a_drafter_the_first_gets_the_samples():
    arms = [Arm(id=f"k{k}", method="draft_model", draft="d", k=k) for k in (2, 6)]
    (occasion,) = adopt(costs("draft"), info(*arms))
    assert [s["arm"] for s in occasion["samples"]] == [None, "k2"]


@pytest.mark.parametrize(
    ("key", "value"), [("dtype", "bfloat16"), ("device", "cuda:0"), ("threads", 4), ("engine_version", "2")]
)
def test_costs_of_another_set_up_are_refused(key, value):
    with pytest.raises(UsageError, match=f"`{key}` was {HOLDS[key]}, is {value}"):
        adopt(costs(), info(DRAFT, **{key: value}))


def test_every_difference_is_named_at_once():
    other = info(DRAFT, dtype="bfloat16", threads=1, target="n", weights={"n": {"sha256": "3"}})
    with pytest.raises(UsageError) as error:
        adopt(costs(), other)
    for words in ("`dtype` was float32, is bfloat16", "`threads` was 2, is 1", "`target` was m, is n"):
        assert words in str(error.value)


def test_a_target_is_its_weights_wherever_they_lie():
    moved = {"elsewhere/m": HOLDS["weights"]["m"], "d": HOLDS["weights"]["d"]}
    assert adopt(costs(), info(DRAFT, target="elsewhere/m", weights=moved))
    with pytest.raises(UsageError, match="other weights"):
        adopt(costs(), info(DRAFT, weights={**HOLDS["weights"], "m": {"sha256": "9"}}))


def test_other_weights_of_a_draft_are_refused():
    with pytest.raises(UsageError, match="the weights of `d` changed"):
        adopt(costs(), info(DRAFT, weights={**HOLDS["weights"], "d": {"sha256": "9"}}))


def test_a_drafter_that_was_not_measured_is_refused_by_name():
    new = Arm(id="new", method="draft_model", draft="d2", k=4)
    with pytest.raises(UsageError, match=r"the drafter of arm `new` \(draft_model\) was not measured"):
        adopt(costs(), info(DRAFT, new))


def test_another_machine_is_a_warning(caplog):
    with caplog.at_level(logging.WARNING, "specprof"):
        adopt(costs(machine={"cpu": "an abacus"}), info(DRAFT))
    assert "another machine: `cpu` was an abacus" in caplog.text


def test_another_load_is_a_warning(caplog, monkeypatch):
    monkeypatch.setattr("specprof.calibrate.reuse.load_1m", lambda: 7.0)
    file = costs()
    file.content["occasions"][0]["load_1m"] = 0.5
    with caplog.at_level(logging.WARNING, "specprof"):
        adopt(file, info(DRAFT))
    assert "measured at load 0.5, now it is 7.0" in caplog.text


def test_what_must_agree_is_all_in_the_file():
    from specprof.calibrate.reuse import MUST_AGREE

    assert set(MUST_AGREE) <= set(HOLDS_FOR)
