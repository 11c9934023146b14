import json

import pytest

from specprof.calibrate import REPEATS
from specprof.errors import EnvironmentError_

SIMULATED = ("--engine", "simulated-prefix", "--method", "simulated")


@pytest.fixture
def prompts(tmp_path):
    file = tmp_path / "prompts.jsonl"
    file.write_text('{"prompt": "one two three", "task": "code"}\n')
    return file


def test_the_table_shows_the_costs_of_each_context_with_their_intervals(cli, prompts):
    result = cli("calibrate", *SIMULATED, "--k", 4, "--prompts", prompts, "--contexts", "64,512", "--repeats", 12)
    assert result.code == 0
    assert max(map(len, result.out.splitlines())) <= 100
    for words in (
        "context 64: t₁ ",
        "context 512: t₁ ",
        "12 repeats",
        " α 0.1",
        " α₀ 0.0",
        " β 0.0",
        " φ 0.0",
        " ψ 0.0",
        " v(4) 1.",
    ):
        assert words in result.out


def test_json_is_the_document_that_out_keeps(cli, prompts, tmp_path):
    result = cli("calibrate", *SIMULATED, "--prompts", prompts, "--contexts", 64, "--out", "costs.json", "--json")
    kept = json.loads((tmp_path / "costs.json").read_text())
    assert result.json == kept
    assert (kept["schema"], kept["engine"]) == ("specprof.costs/1", "simulated-prefix")
    (occasion,) = kept["occasions"]
    assert {s["repeat"] for s in occasion["samples"]} == set(range(REPEATS))
    assert {s["context"] for s in occasion["samples"]} == {64}


def test_a_run_takes_its_costs_from_the_file(cli, prompts):
    how = ("--k", 6, "--prompts", prompts, "--repeats", 40, "--out", "costs.json")
    cli("calibrate", *SIMULATED, *how)
    done = cli("run", *SIMULATED, "--k", 4, "--prompts", prompts, "--costs", "costs.json", "--out", "run")
    assert done.code == 0
    (arm,) = cli("report", "run", "--json").json["arms"]
    assert {costs["source"] for costs in arm["costs"]} == {"measured"}
    # the truth of the simulation is α = .1, α₀ = .05, φ = .03
    assert arm["costs"][0]["alpha"]["value"] == pytest.approx(0.1, abs=0.01)
    assert arm["costs"][0]["alpha_round"]["value"] == pytest.approx(0.05, abs=0.01)
    assert arm["costs"][0]["phi"]["value"] == pytest.approx(0.03, abs=0.01)


def test_sweeps_and_arms_are_measured_side_by_side(cli, prompts):
    result = cli("calibrate", *SIMULATED, "--k", "2,6", "--prompts", prompts, "--json")
    assert set(result.json["arms"]) == {"simulated-k2", "simulated-k6"}
    assert {s["width"] for s in result.json["occasions"][0]["samples"] if s["kind"] == "round"} == set(range(7))


def test_a_file_that_exists_is_refused_before_anything_is_measured(cli, prompts, tmp_path):
    (tmp_path / "costs.json").write_text("{}")
    result = cli("calibrate", *SIMULATED, "--prompts", prompts, "--out", "costs.json")
    assert (result.code, result.out) == (2, "")
    assert "`costs.json` exists" in result.err
    assert (tmp_path / "costs.json").read_text() == "{}"


@pytest.mark.parametrize("text", ["64,x", "0", "-3", "1.5", ",", "", "64,", "9" * 5000])
def test_contexts_are_numbers_of_tokens(cli, prompts, text):
    result = cli("calibrate", *SIMULATED, "--prompts", prompts, f"--contexts={text}")
    assert result.code == 2
    assert "are no numbers of tokens" in result.err


def test_without_prompts_there_is_nothing_to_calibrate_on(cli):
    result = cli("calibrate", *SIMULATED)
    assert result.code == 2
    assert "pass `--prompts FILE`" in result.err


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_measured(cli, prompts, tmp_path):
    (tmp_path / "file").write_text("")
    result = cli("calibrate", *SIMULATED, "--prompts", prompts, "--out", "file/costs.json")
    assert (result.code, result.out) == (4, "")
    assert "cannot write to `file`" in result.err


def test_what_was_measured_is_printed_though_it_cannot_be_kept_any_more(cli, prompts, tmp_path, monkeypatch):
    def fails(path, content):
        raise EnvironmentError_("the disk is full")

    monkeypatch.setattr("specprof.calibrate.save_costs", fails)
    result = cli("calibrate", *SIMULATED, "--prompts", prompts, "--out", "costs.json")
    assert result.code == 4
    assert "t₁" in result.out


def test_prompts_are_read_as_a_run_reads_them(cli, tmp_path):
    (tmp_path / "odd.jsonl").write_text('{"say": {"it": "one two"}, "kind": "code"}\n')
    how = ("--field", "say.it", "--task-field", "kind", "--task", "other")
    assert cli("calibrate", *SIMULATED, "--prompts", "odd.jsonl", "--repeats", 1, *how).code == 0


@pytest.mark.parametrize("dry", [("--dry-run",), ("--out", "run")])
def test_costs_of_shorter_drafts_price_no_run(cli, prompts, dry):
    cli("calibrate", *SIMULATED, "--k", 1, "--prompts", prompts, "--out", "costs.json")
    result = cli("run", *SIMULATED, "--k", 8, "--prompts", prompts, "--costs", "costs.json", *dry)
    assert result.code == 2
    assert "drafts up to 8 tokens, its drafter was measured up to 1" in result.err


def test_a_report_by_costs_of_shorter_drafts_knows_no_speed_up(cli, prompts):
    cli("calibrate", *SIMULATED, "--k", 1, "--prompts", prompts, "--out", "costs.json")
    cli("run", *SIMULATED, "--k", 8, "--prompts", prompts, "--no-calibrate", "--out", "run")
    result = cli("report", "run", "--costs", "costs.json", "--json")
    (arm,) = result.json["arms"]
    assert arm["costs"][0]["alpha"]["value"] is None
    assert arm["overall"]["cost"]["speedup"]["value"] is None
    assert arm["overall"]["cost"]["speedup"]["reason"].endswith("none longer than 1 was timed")
    assert "unpriced" in arm["overall"]["flags"]
    assert "drafts up to 8 tokens, its drafter was measured up to 1" in result.err
    assert "load" not in result.err


def test_costs_of_one_token_price_drafts_of_one_token(cli, prompts):
    cli("run", *SIMULATED, "--k", 1, "--prompts", prompts, "--out", "run")
    (arm,) = cli("report", "run", "--json").json["arms"]
    assert arm["costs"][0]["alpha"]["value"] is None
    assert arm["overall"]["rule"]["threshold"]["value"] is None
    assert arm["overall"]["cost"]["speedup"]["value"] > 0
