import logging
from dataclasses import replace
from pathlib import Path

import pytest

from specprof.calibrate import CostFile, adopt, differences, refuse_early
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


PLACE = {"context": 64, "repeat": 0, "us": 5.0}
SHARED = [{"kind": "plain", **PLACE}, {"kind": "round", "width": 4, **PLACE}]


def sample(arm):
    return {"kind": "draft", "width": 4, "arm": arm, **PLACE}


def costs(*arms, **changes):
    samples = [*SHARED, *map(sample, arms or ("draft", "lookup"))]
    occasion = {"when": "calibrate", "at": "then", "load_1m": None, "samples": samples}
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
    fast = Arm(id="fast", method="draft_model", draft="d", k=3)
    (occasion,) = adopt(costs("draft", "lookup"), info(fast, Arm(id="baseline", method="none")))
    assert [s.get("arm") for s in occasion["samples"]] == [None, None, "fast"]
    assert (occasion["when"], occasion["at"], occasion["file"], occasion["sha256"]) == (
        "file",
        "then",
        "costs.json",
        "abc",
    )


def test_of_arms_that_share_a_drafter_the_first_gets_the_samples():
    arms = [Arm(id=f"k{k}", method="draft_model", draft="d", k=k) for k in (2, 4)]
    (occasion,) = adopt(costs("draft"), info(*arms))
    assert [s.get("arm") for s in occasion["samples"]] == [None, None, "k2"]


def test_costs_of_shorter_drafts_or_narrower_rounds_are_refused():
    longer = Arm(id="longer", method="draft_model", draft="d", k=8)
    with pytest.raises(UsageError, match="arm `longer` drafts up to 8 tokens, its drafter was measured up to 4"):
        adopt(costs(), info(longer))
    narrow = costs(arms={"draft": replace(DRAFT, k=9).to_dict()})
    with pytest.raises(UsageError, match="arm `longer` verifies up to 8 tokens, rounds were measured up to 4"):
        adopt(narrow, info(longer))


def test_the_narrowest_context_limits_what_costs_are_good_for():
    file = costs()
    file.content["occasions"][0]["samples"] += [{**item, "context": 512} for item in SHARED[:1]]
    file.content["occasions"][0]["samples"] += [{**SHARED[1], "context": 512, "width": 2}]
    with pytest.raises(UsageError, match="arm `draft` verifies up to 4 tokens, rounds were measured up to 2"):
        adopt(file, info(DRAFT))


def test_an_arm_of_the_file_without_a_draft_was_not_measured():
    with pytest.raises(UsageError, match=r"the drafter of arm `draft` \(draft_model\) was not measured"):
        adopt(costs("lookup"), info(DRAFT))


@pytest.mark.parametrize("path", ["./d", "d/", "x/../d"])
def test_a_draft_by_another_path_is_the_same_drafter(path):
    (occasion,) = adopt(costs("draft"), info(replace(DRAFT, id="again", draft=path)))
    assert occasion["samples"][-1]["arm"] == "again"


def test_a_copy_of_a_draft_is_the_same_drafter_and_prices_every_place_where_it_lies():
    weights = HOLDS["weights"] | {"copy/d": HOLDS["weights"]["d"]}
    (occasion,) = adopt(costs("draft"), info(DRAFT, replace(DRAFT, id="copy", draft="copy/d"), weights=weights))
    assert [s.get("arm") for s in occasion["samples"]] == [None, None, "draft", "copy"]


def test_the_differences_are_named_without_a_word_on_the_present_load(caplog):
    file = costs(machine={"cpu": "an abacus"}, dtype="float16")
    assert differences(file, info(DRAFT)) == ["`dtype` was float16, is float32"]
    assert differences(costs(), info(DRAFT)) == []
    assert caplog.text == ""


def test_what_differs_whatever_the_weights_is_refused_early():
    def early(*arms, engine="simulated-block", **changes):
        refuse_early(costs(engine="simulated-block", **changes), engine, {arm.id: arm.to_dict() for arm in arms})

    early(DRAFT, replace(DRAFT, id="other-path", draft="copy/d"), Arm(id="baseline", method="none"))
    early(DRAFT, engine="of-a-plugin")  # which may describe itself by another name than it is registered under
    with pytest.raises(UsageError, match="`engine` was simulated-block, is huggingface"):
        early(DRAFT, engine="huggingface")
    with pytest.raises(UsageError, match="`draft` drafts up to 5 tokens"):
        early(replace(DRAFT, k=5))
    with pytest.raises(UsageError, match=r"arm `m` \(mtp\) was not measured"):
        early(Arm(id="m", method="mtp", k=2))


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
