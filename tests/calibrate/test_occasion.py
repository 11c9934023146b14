import json
import logging
from pathlib import Path

import pytest

from specprof.calibrate import save_costs
from specprof.calibrate.file import document
from specprof.calibrate.occasion import REPEATS_IN_RUN
from specprof.capture.plan import plan
from specprof.capture.session import Spec, execute
from specprof.engines.simulated import PrefixEngine
from specprof.errors import UsageError
from specprof.records import BASELINE, Arm, CostSample, EngineConfig, Prompt
from specprof.store.read import read_run
from specprof.store.run import read_info

ARMS = (Arm(id="sim", method="simulated", k=4), Arm(id=BASELINE, method="none"))
PROMPTS = [Prompt(id=f"p{i}", task="code", text="one two three " * 20) for i in range(3)]


class Counting(PrefixEngine):
    """Three words make three tokens."""

    def count_tokens(self, prompt):
        return len(prompt.text.split())


def run(folder, engine=None, arms=ARMS, **settings):
    config = EngineConfig(arms=arms, max_tokens=40)
    spec = Spec("sim", config, plan(PROMPTS, arms, max_tokens=40), {"sha256": "x"}, **settings)
    go_on = settings.pop("go_on", False) or (folder / "run.json").exists()
    execute(engine or Counting(), spec, folder, go_on=go_on)
    return read_info(folder)


def test_a_run_keeps_the_raw_repeats_of_before_and_after(tmp_path):
    info = run(tmp_path / "run", calibrate=True)
    before, after = info["calibration"]
    assert (before["when"], after["when"]) == ("before", "after")
    assert before["at"] <= after["at"]
    # 60 prompt tokens and half of 40, rounded to 8; widths 0 to 4
    widths = {(s["context"], s["repeat"], s["width"]) for s in before["samples"] if s["kind"] == "round"}
    assert widths == {(80, repeat, width) for repeat in range(REPEATS_IN_RUN) for width in range(5)}
    assert {s["arm"] for s in after["samples"]} == {None, "sim"}


def test_without_the_wish_nothing_is_measured(tmp_path):
    assert run(tmp_path / "run")["calibration"] == []


def test_a_run_of_the_baseline_alone_has_no_costs(tmp_path):
    assert run(tmp_path / "run", arms=ARMS[1:], calibrate=True)["calibration"] == []


def test_an_engine_that_cannot_calibrate_runs_all_the_same(tmp_path, caplog):
    class Plain:
        def __init__(self):
            self._engine, self.capabilities = PrefixEngine(), PrefixEngine.capabilities
            self.check, self.describe, self.generate = (
                self._engine.check,
                self._engine.describe,
                self._engine.generate,
            )

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    with caplog.at_level(logging.INFO, "specprof"):
        info = run(tmp_path / "run", Plain(), calibrate=True)
    assert (info["state"], info["calibration"]) == ("complete", [])
    assert "costs are not measured" in caplog.text


class Failing(Counting):
    """Gives one sample and then fails."""

    error: BaseException = RuntimeError("out of memory")

    def calibrate(self, arms, contexts, repeats, prompts):
        yield next(super().calibrate(arms, contexts, repeats, prompts))
        raise self.error


def test_a_calibration_that_fails_loses_no_run(tmp_path, caplog):
    with caplog.at_level(logging.WARNING, "specprof"):
        info = run(tmp_path / "run", Failing(), calibrate=True)
    assert info["state"] == "complete"
    assert [(o["error"], len(o["samples"])) for o in info["calibration"]] == [("out of memory", 1)] * 2
    assert caplog.text.count("out of memory") == 2


def test_an_interrupted_calibration_is_kept_and_a_resumed_run_measures_again(tmp_path):
    class Interrupted(Failing):
        error = KeyboardInterrupt()

    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        run(folder, Interrupted(), calibrate=True)
    assert read_info(folder)["state"] == "interrupted"
    info = run(folder, calibrate=True)
    assert info["state"] == "complete"
    assert [o["when"] for o in info["calibration"]] == ["before", "resume", "after"]
    assert len(info["calibration"][0]["samples"]) == 1


def test_an_interruption_after_the_last_request_keeps_all_of_them(tmp_path):
    class Late(Counting):
        calls = 0

        def calibrate(self, *how):
            self.calls += 1
            if self.calls == 2:
                raise KeyboardInterrupt
            return super().calibrate(*how)

    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        run(folder, Late(), calibrate=True)
    run_ = read_run(folder)
    assert (run_.state, sum(run_.table["complete"].to_pylist())) == ("interrupted", 2 * len(PROMPTS) + 2)
    assert [o["when"] for o in run(folder, calibrate=True)["calibration"]] == ["before", "after", "resume", "after"]


def cost_file(folder, **changes):
    described = {**PrefixEngine().describe(), **changes}
    occasion = {"when": "calibrate", "at": "then", "load_1m": None}
    path = folder / "costs.json"
    save_costs(path, document(described, ARMS, [{**occasion, "samples": SAMPLES}]))
    return path


PLACE = {"context": 64, "repeat": 0, "us": 20.0}
SAMPLES = [
    {"kind": "plain", **PLACE},
    {"kind": "round", "width": 4, **PLACE},
    {"kind": "draft", "width": 4, "arm": "sim", **PLACE},
]


def test_costs_from_a_file_take_the_place_of_a_calibration(tmp_path):
    path = cost_file(tmp_path)
    (occasion,) = run(tmp_path / "run", calibrate=True, costs=path)["calibration"]
    assert (occasion["when"], occasion["file"], len(occasion["sha256"])) == ("file", str(path), 64)
    assert occasion["samples"] == SAMPLES


def test_costs_that_cannot_be_of_this_run_are_refused_before_models_load(tmp_path):
    class Heavy(Counting):
        def __enter__(self):
            raise AssertionError("loaded")

    longer = (Arm(id="sim", method="simulated", k=5),)
    with pytest.raises(UsageError, match="arm `sim` drafts up to 5 tokens, its drafter was measured up to 4"):
        run(tmp_path / "run", Heavy(), arms=longer, costs=cost_file(tmp_path))


def test_a_run_is_not_resumed_with_costs_from_elsewhere(tmp_path):
    class Interrupted(Failing):
        error = KeyboardInterrupt()

    folder, path = tmp_path / "run", cost_file(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run(folder, Interrupted(), calibrate=True)
    for other in ({"calibrate": True, "costs": path}, {"costs": path}, {}):
        with pytest.raises(UsageError, match=r"`costs` was measured, is (file|not measured)"):
            run(folder, **other)
    assert run(folder, calibrate=True)["state"] == "complete"


@pytest.mark.parametrize("sample", [None, CostSample("plain", 64, 0, float("nan")), CostSample("draft", 64, 0, 1.0, 1)])
def test_what_is_no_time_is_never_kept(tmp_path, sample):
    class Odd(Counting):
        def calibrate(self, arms, contexts, repeats, prompts):
            yield from (CostSample("plain", 64, 0, 1.0), sample)

    before, _ = run(tmp_path / "run", Odd(), calibrate=True)["calibration"]
    assert "no sound sample" in before["error"]
    assert len(before["samples"]) == 1


def test_costs_of_another_engine_stop_the_run_before_it_has_a_folder(tmp_path):
    path = cost_file(tmp_path, engine_version="0")
    with pytest.raises(UsageError, match="`engine_version` was 0, is 1"):
        run(tmp_path / "run", costs=path)
    assert not Path(tmp_path / "run").exists()


def test_run_json_stays_json(tmp_path):
    info = run(tmp_path / "run", calibrate=True)
    assert json.loads((tmp_path / "run" / "run.json").read_text()) == info


def test_costs_of_a_run_are_those_of_the_truth(tmp_path):
    """C of a round that proposes 4 is 1 + 4·.02 + 4·.1 + .05 + .03 = 1.56 in the default truth."""
    from specprof.analysis.calibration import costs_from, samples_of

    info = run(tmp_path / "run", calibrate=True)
    (costs,) = costs_from(samples_of(info["calibration"]), info["arms"]["sim"], info["arms"])
    assert costs.context == 80
    assert dict(costs.widths)[4] + 4 * costs.alpha + costs.alpha_round + costs.phi == pytest.approx(1.56, abs=0.02)
