import csv
import io
import json

import pytest

import specprof


def test_the_decision_table_fits_100_columns_and_shows_the_decision(cli, imported):
    result = cli("report", imported, "--alpha", 0.1, "--beta", 0.02)
    assert result.code == 0
    assert max(map(len, result.out.splitlines())) <= 100
    (row,) = (line for line in result.out.splitlines() if line.strip().startswith("code"))
    # a = 2, a* = 4 · 0.12 = 0.48, S = 3 / 1.48 = 2.03
    for figure in ("24", "2.00 [2.00,2.00]", "0.48", "2.03 [2.03,2.03]*", "enable"):
        assert figure in row


def test_without_costs_the_affordable_overhead_is_shown(cli, imported):
    result = cli("report", imported)
    assert "unpriced" in result.out
    assert "affordable overhead per drafted token: code 0.50 [0.50, 0.50]" in result.out


def test_the_json_is_one_document_with_the_contract_keys(cli, imported):
    document = cli("report", imported, "--json").json
    assert document["schema"] == "specprof.report/1"
    assert [run["run_id"] for run in document["runs"]] == ["run"]
    (arm,) = document["arms"]
    assert (arm["arm"], arm["k"], arm["overall"]["tokens_per_round"]["value"]) == ("imported", 4, 3.0)
    assert arm["overall"]["cost"]["speedup"]["reason"]


def test_csv_has_a_row_per_level_and_every_figure(cli, imported):
    rows = list(csv.DictReader(io.StringIO(cli("report", imported, "--csv").out)))
    assert [row["level"] for row in rows] == ["overall", "task", "bucket"]
    assert {row["mean_accepted.value"] for row in rows} == {"2.0"}
    assert (rows[2]["prompt"], rows[2]["response"]) == ("0-128", "0-20")


def test_markdown_is_a_table(cli, imported):
    lines = cli("report", imported, "--format", "markdown").out.splitlines()
    assert lines[0] == f"run · import · {specprof.__version__} · state complete"
    assert lines[2].startswith("**imported (")
    assert lines[4].split(" | ") == ["| task", "n", "accepted [95 %]", "p10", "verdict", "basis", "flags |"]
    assert lines[4].count("|") == lines[5].count("|") == lines[6].count("|")
    assert lines[6] == "| code | 24 | 2.00 [2.00, 2.00] | 2.00 | unpriced | – | unpriced |"
    assert any(line.startswith("* affordable overhead per drafted token: code 0.50") for line in lines)
    assert any(line.startswith("* unpriced: neither costs nor timed pairs") for line in lines)


def test_detail_shows_every_figure_of_every_bucket(cli, imported):
    out = cli("report", imported, "--detail").out
    for name in ("mean_accepted_capped", "draft_coverage", "survival", "latency.tpot_ms.p99", "rule.threshold"):
        assert out.count(name) >= 3  # the task, the overall row and one bucket
    assert "code · p 0-128 · r 0-20" in out


def test_by_chooses_the_buckets(cli, imported):
    (arm,) = cli("report", imported, "--json", "--by", "prompt").json["arms"]
    assert [(row["task"], row["prompt"]) for row in arm["buckets"]] == [(None, "0-128")]
    result = cli("report", imported, "--by", "colour")
    assert result.code == 2
    assert "`colour`" in result.err


def test_buckets_asked_for_stand_in_the_table(cli, imported):
    assert "p 0-128" in cli("report", imported, "--by", "prompt").out
    assert "| p 0-128 |" in cli("report", imported, "--by", "prompt", "--format", "markdown").out


def test_a_cost_that_is_not_given_counts_as_0_and_says_so(cli, imported):
    (arm,) = cli("report", imported, "--json", "--alpha", 0.1).json["arms"]
    (costs,) = arm["costs"]
    assert (costs["alpha"]["value"], costs["alpha"]["reason"]) == (0.1, None)
    for name in ("beta", "alpha_round", "phi"):
        assert (costs[name]["value"], costs[name]["reason"]) == (0.0, "not given: counted as 0")
    assert arm["overall"]["cost"]["speedup"]["value"] == pytest.approx(3 / 1.4)
    assert "costs: α 0.1, α₀ 0 (not given: counted as 0), β 0" in cli("report", imported, "--alpha", 0.1).out


@pytest.mark.parametrize("flag", ["--alpha", "--beta", "--alpha-round", "--phi"])
@pytest.mark.parametrize("cost", ["nan", "inf", "1e308", "-1e308"])
def test_a_cost_that_is_no_number_is_refused(cli, imported, flag, cost):
    result = cli("report", imported, flag, cost, "--json")
    assert result.code == 2
    assert flag in result.err


def test_only_the_arm_asked_for_is_reported(cli, imported):
    assert cli("report", imported, "--arm", "imported").code == 0
    result = cli("report", imported, "--arm", "importet")
    assert result.code == 2
    assert "did you mean `imported`?" in result.err


def test_several_runs_are_reported_side_by_side(cli, imported, rounds):
    cli("import", rounds, "--out", "other")
    assert [arm["run_id"] for arm in cli("report", "run", "other", "--json").json["arms"]] == ["run", "other"]


@pytest.mark.parametrize("flags", [(), ("--csv",), ("--format", "markdown")])
def test_a_task_name_with_markup_and_pipes_is_printed_as_it_is(cli, tmp_path, flags):
    line = {"request_id": "a", "task": "[red]a|b", "prompt_tokens": 1, "response_tokens": 2}
    (tmp_path / "odd.jsonl").write_text(json.dumps(line | {"drafted": [2], "accepted": [1]}))
    cli("import", "odd.jsonl", "--out", "odd")
    result = cli("report", "odd", *flags)
    assert result.code == 0
    assert "[red]a" in result.out


def test_a_damaged_shard_is_named_and_skipped_on_request(cli, imported, tmp_path):
    (shard,) = (tmp_path / imported / "requests").glob("*.parquet")
    (shard.parent / "part-zzz-00000.parquet").write_bytes(shard.read_bytes()[:-100])
    result = cli("report", imported)
    assert result.code == 2
    assert "part-zzz-00000.parquet" in result.err
    assert "--skip-bad" in result.err
    skipped = cli("report", imported, "--skip-bad", "--json")
    assert skipped.code == 0
    assert "warning: " in skipped.err
    assert skipped.json["arms"][0]["overall"]["requests"] == 24


@pytest.fixture
def costs_file(tmp_path):
    """Three repeats that agree: α = .1 and v(4) = 1.08, for the drafter of a run that was imported."""
    samples = []
    for repeat in range(3):
        place = {"context": 10, "repeat": repeat}
        samples += [
            {"kind": "plain", "us": 100, **place},
            *({"kind": "round", "us": us, "width": width, **place} for width, us in ((0, 100), (4, 108))),
            *({"kind": "draft", "us": 10 * width, "width": width, "arm": "there", **place} for width in (1, 4)),
        ]
    content = {"schema": "specprof.costs/1", "engine": "huggingface", "engine_version": "5.24.0"}
    arms = {"there": {"method": "imported", "k": 4}}
    occasions = [{"when": "calibrate", "at": "2026-01-01T00:00:00+00:00", "load_1m": 0.1, "samples": samples}]
    (tmp_path / "costs.json").write_text(json.dumps(content | {"arms": arms, "occasions": occasions}))
    return "costs.json"


def test_costs_measured_elsewhere_price_a_run_and_differences_are_a_warning(cli, imported, costs_file, tmp_path):
    """3 tokens per round of 1.08 + .4."""
    path = tmp_path / imported / "run.json"
    info = json.loads(path.read_text())
    info["arms"]["imported"]["method"] = "imported"
    path.write_text(json.dumps(info))
    result = cli("report", imported, "--costs", costs_file, "--json")
    assert result.code == 0
    (arm,) = result.json["arms"]
    assert [(costs["source"], costs["regime"]) for costs in arm["costs"]] == [("measured", "context 10")]
    assert arm["overall"]["cost"]["speedup"]["value"] == pytest.approx(3 / 1.48)
    assert arm["overall"]["verdict"] == "enable"
    assert (
        "warning: run `run`: the costs of `costs.json` are not those of this run: `engine` was huggingface"
        in result.err
    )
    assert cli("gate", imported, "--costs", costs_file, "--rule", "cost.speedup > 2").code == 0
    assert cli("gate", imported, "--costs", costs_file, "--rule", "cost.speedup > 2.1").code == 1


def test_a_file_of_costs_and_costs_by_flags_exclude_each_other(cli, imported, costs_file):
    result = cli("report", imported, "--costs", costs_file, "--alpha", 0.1)
    assert result.code == 2
    assert "`--costs` and `--alpha` exclude each other" in result.err


def test_a_file_that_holds_no_costs_is_refused(cli, imported, tmp_path):
    (tmp_path / "other.json").write_text("{}")
    for command in (("report", imported), ("gate", imported, "--rule", "cost.speedup > 1")):
        result = cli(*command, "--costs", "other.json")
        assert result.code == 2
        assert "specprof calibrate --out" in result.err


@pytest.mark.parametrize("flag", ["--alpha", "--alpha-round", "--phi"])
def test_a_negative_cost_is_measured_or_a_slip(cli, imported, flag):
    assert cli("report", imported, flag, "-0.1").code == 2
    assert cli("report", imported, "--beta", "-0.1").code == 0
