import hashlib
import json

import pytest

from specprof.calibrate import read_costs, save_costs
from specprof.calibrate.file import document
from specprof.errors import EnvironmentError_, UsageError
from specprof.records import Arm

SAMPLE = {"kind": "round", "context": 64, "repeat": 0, "us": 70.5, "width": 4, "arm": None, "batch": 1}
PLAIN, DRAFT = SAMPLE | {"kind": "plain", "width": 0}, SAMPLE | {"kind": "draft", "arm": "a"}
SETUP = SAMPLE | {"kind": "setup", "arm": "a", "us": -3.0}
OCCASION = {"when": "calibrate", "at": "2026-01-01T00:00:00+00:00", "load_1m": 0.5}
OCCASION |= {"samples": [SAMPLE, PLAIN, DRAFT, SETUP]}
ARM = Arm(id="a", method="simulated", k=4).to_dict()
DESCRIBED = {"engine": "e", "engine_version": "1", "target": "m", "dtype": "float32", "device": "cpu", "threads": 2}


def written(path, **changes):
    content = document(DESCRIBED, [Arm(id="a", method="simulated", k=4)], [OCCASION])
    path.write_text(json.dumps(content | changes))
    return path


def test_a_file_comes_back_as_it_was_with_its_hash(tmp_path):
    path = tmp_path / "new" / "costs.json"
    content = document(DESCRIBED, [Arm(id="a", method="simulated", k=4)], [OCCASION])
    save_costs(path, content)
    found = read_costs(path)
    assert found.content == content
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert [file.name for file in path.parent.iterdir()] == ["costs.json"]


def test_a_file_says_what_its_costs_hold_for():
    content = document(DESCRIBED, [Arm(id="a", method="simulated", k=4)], [OCCASION])
    assert content["schema"] == "specprof.costs/1"
    assert content["arms"]["a"]["k"] == 4
    assert content["threads"] == 2
    assert content["weights"] is None
    assert content["machine"]["cpu"]


def test_a_file_that_is_there_is_never_replaced(tmp_path):
    path = written(tmp_path / "costs.json")
    before = path.read_bytes()
    with pytest.raises(UsageError, match="exists"):
        save_costs(path, {})
    assert path.read_bytes() == before


def test_a_full_disk_leaves_no_half_of_a_file(small_disk):
    with pytest.raises(EnvironmentError_, match="the disk is full"):
        save_costs(small_disk / "costs.json", {"text": "x" * (1 << 20)})
    assert not (small_disk / "costs.json").exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"schema": "specprof.run/1"}, "has no schema `specprof.costs/…`"),
        ({"schema": "specprof.costs/2"}, "reads up to 1"),
        ({"schema": "specprof.costs/" + "9" * 5000}, "has no schema"),
        ({"arms": []}, "no map of arms"),
        ({"arms": {"a": ARM | {"options": [1]}}}, "no map of arms"),
        ({"arms": {"a": ARM | {"options": {"n": [1]}}}}, "no map of arms"),
        ({"arms": {"a": ARM | {"temperature": "x"}}}, "no map of arms"),
        ({"arms": {"a": ARM | {"draft": 7}}}, "no map of arms"),
        ({"arms": {"a": ARM | {"k": None}}}, "no map of arms"),
        ({"machine": "x"}, "no map of machine"),
        ({"weights": [1]}, "no map of weights"),
        ({"weights": {"m": 1}}, "no map of weights"),
        ({"target": ["m"]}, "no name of a target"),
        ({"occasions": []}, "no list of occasions"),
        ({"occasions": [5]}, "no list of samples in occasion 0"),
        ({"occasions": [OCCASION, {"samples": 5}]}, "no list of samples in occasion 1"),
        ({"occasions": [OCCASION | {"load_1m": "x"}]}, "no sound time or load in occasion 0"),
        ({"occasions": [OCCASION | {"at": 3}]}, "no sound time or load in occasion 0"),
        ({"occasions": {}}, "no list of occasions"),
        ({"occasions": [{"samples": [SAMPLE, {**SAMPLE, "us": "slow"}]}]}, "no sound sample 1 in occasion 0"),
        ({"occasions": [{"samples": [{**SAMPLE, "kind": "lunch"}]}]}, "no sound sample 0 in occasion 0"),
        ({"occasions": [{"samples": [{**SAMPLE, "us": float("nan")}]}]}, "no sound sample 0"),
        ({"occasions": [{**OCCASION, "samples": []}]}, "no sample of kind `plain` in occasion 0"),
        ({"occasions": [{**OCCASION, "samples": [PLAIN, DRAFT]}]}, "no sample of kind `round`"),
        ({"occasions": [{**OCCASION, "samples": [PLAIN, SAMPLE]}]}, "no sample of kind `draft`"),
    ],
)
def test_what_is_no_file_of_costs_is_refused(tmp_path, changes, words):
    with pytest.raises(UsageError, match=words):
        read_costs(written(tmp_path / "costs.json", **changes))


@pytest.mark.parametrize(
    "sample",
    [
        *(PLAIN | {"us": us} for us in (0, -1.0, True, 10**400, "1", None)),
        *(SAMPLE | change for change in ({"us": 0}, {"width": -1}, {"context": 0}, {"context": True}, {"batch": 0})),
        *(SAMPLE | change for change in ({"batch": "q"}, {"repeat": 0.5}, {"repeat": 2**40}, {"arm": "a"}, {"x": 1})),
        *(DRAFT | change for change in ({"us": -1}, {"arm": ["a"]}, {"arm": "stranger"}, {"arm": None})),
        SETUP | {"us": float("inf")},
    ],
)
def test_a_sample_that_cannot_be_is_refused(tmp_path, sample):
    path = written(tmp_path / "costs.json", occasions=[{**OCCASION, "samples": [*OCCASION["samples"], sample]}])
    with pytest.raises(UsageError, match="no sound sample 4 in occasion 0"):
        read_costs(path)


def test_a_folder_and_endless_nesting_are_refused_in_words(tmp_path):
    with pytest.raises(UsageError, match="Is a directory"):
        read_costs(tmp_path)
    path = tmp_path / "deep.json"
    path.write_text("[" * 200_000)
    with pytest.raises(UsageError, match="cannot read costs"):
        read_costs(path)


def test_a_missing_or_torn_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot read costs"):
        read_costs(tmp_path / "none.json")
    path = written(tmp_path / "costs.json")
    path.write_text(path.read_text()[:-5])
    with pytest.raises(UsageError, match="cannot read costs"):
        read_costs(path)
