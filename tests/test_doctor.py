import shutil
from types import SimpleNamespace

import pytest

from specprof.doctor import blockers, consult, examine
from specprof.errors import EnvironmentError_, UsageError
from specprof.records import EngineConfig, Finding

CONFIG = EngineConfig(arms=())


class Engine:
    """Diagnoses what it is given; `refusal` is what its check raises."""

    def __init__(self, *levels, refusal=None):
        self.levels, self.refusal, self.texts = levels, refusal, None

    def diagnose(self, config, texts):
        self.texts = texts
        yield from (Finding("model", level, "value", "meaning") for level in self.levels)

    def check(self, config):
        if self.refusal:
            raise self.refusal


def levels(findings):
    return [finding.level for finding in findings]


@pytest.fixture
def disk(monkeypatch):
    return lambda free: monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=free))


def test_the_engines_findings_come_first_and_see_the_texts(tmp_path):
    engine = Engine("ok", "warning")
    found = examine(engine, CONFIG, out=tmp_path, texts=["a"])
    assert [finding.what for finding in found] == ["model", "model", "disk"]
    assert engine.texts == ["a"]


def test_an_engine_that_diagnoses_nothing_has_the_disk_alone(tmp_path):
    assert examine(SimpleNamespace(), CONFIG) == ()
    assert [finding.what for finding in examine(SimpleNamespace(), CONFIG, out=tmp_path)] == ["disk"]


@pytest.mark.parametrize("refusal", [UsageError("no", "type this"), EnvironmentError_("no", "type this")])
def test_what_the_engine_refuses_is_a_blocker_with_its_hint(refusal):
    *_, finding = consult(Engine("ok", refusal=refusal), CONFIG)
    assert (finding.what, finding.level, finding.value, finding.hint) == ("configuration", "blocker", "no", "type this")


def test_a_refusal_is_not_said_twice():
    assert levels(consult(Engine("blocker", refusal=UsageError("no")), CONFIG)) == ["blocker"]


def test_examining_asks_the_engine_for_no_check():
    assert levels(examine(Engine("ok", refusal=UsageError("no")), CONFIG)) == ["ok"]


def test_blockers_are_picked_out():
    found = examine(Engine("ok", "blocker", "warning", "blocker"), CONFIG)
    assert levels(blockers(found)) == ["blocker", "blocker"]


@pytest.mark.parametrize(
    ("free", "level"),
    [(2**40, "ok"), (2**30, "ok"), (2**30 - 1, "warning"), (2**20, "warning"), (2**20 - 1, "blocker")],
)
def test_the_room_for_the_run_is_judged(tmp_path, disk, free, level):
    disk(free)
    assert levels(examine(Engine(), CONFIG, out=tmp_path / "not" / "there" / "yet")) == [level]


def test_a_folder_that_cannot_be_written_is_a_blocker(freezable):
    folder, freeze = freezable
    freeze()
    (finding,) = examine(Engine(), CONFIG, out=folder / "run")
    assert (finding.level, finding.value) == ("blocker", f"`{folder}` cannot be written")
