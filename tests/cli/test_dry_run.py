import json

import pytest


@pytest.fixture
def prompts(tmp_path):
    """Five prompts of task a, one of them long, and three of task b."""
    lines = [{"prompt": f"w2 a{i}", "id": f"a{i}", "task": "a"} for i in range(4)]
    lines += [{"prompt": "w2 " * 200, "id": "long", "task": "a"}]
    lines += [{"prompt": f"w2 b{i}", "id": f"b{i}", "task": "b"} for i in range(3)]
    file = tmp_path / "words.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def rows(result, *start):
    """The cells of the table rows that begin with `start`."""
    lines = [line.split() for line in result.out.splitlines()]
    return [words[len(start) :] for words in lines if words[: len(start)] == list(start)]


def simulate(cli, *more):
    return cli("run", "--engine", "simulated-prefix", *more)


def test_a_plan_counts_requests_and_shows_arms_and_writes_nothing(cli, prompts, tmp_path):
    result = simulate(
        *(cli, "--prompts", prompts, "--k", "2,4", "--baseline", "--repeat", 2, "--temperature", 1, "--dry-run")
    )
    assert (result.code, result.err) == (0, "read 8 prompts, prompt layout, 2 tasks\n")
    assert "48 requests: 8 prompts × 2 repeats × 3 arms; 3 more to warm up" in result.out
    assert rows(result, "simulated-k2") == [["simulated", "–", "2", "constant", "–"]]
    assert rows(result, "baseline") == [["none", "–", "–", "–", "–"]]
    assert [path.name for path in tmp_path.iterdir()] == ["words.jsonl"]


def test_prompts_are_counted_by_task_and_length_and_what_is_short_is_shown(cli, prompts):
    result = simulate(cli, "--prompts", prompts, "--until-n", 3, "--dry-run")
    assert rows(result, "a", "0-128") == [["3", "3", "0"]]
    assert rows(result, "a", "128-512") == [["1", "1", "2"]]
    assert rows(result, "b", "0-128") == [["3", "3", "0"]]
    assert "7 requests: 7 prompts × 1 arm" in result.out


def test_without_a_measurement_the_plan_says_what_it_assumes_and_what_it_cannot_know(cli, prompts):
    result = simulate(cli, "--prompts", prompts, "--dry-run")
    # t of 4, 2 and 7 degrees of freedom over the root of n: 2.776/√5, 4.303/√3, 2.365/√8
    assert [rows(result, task, n) for task, n in (("a", "5"), ("b", "3"), ("all", "8"))] == [
        [["±", "1.24"]],
        [["±", "2.48"]],
        [["±", "0.84"]],
    ]
    said = " ".join(result.out.split())
    assert "differs between prompts by 1 token" in said
    assert "minutes: not known without a measurement" in said
    assert "`--limit 5 --out runs/pilot`" in said


def test_an_earlier_run_gives_minutes_and_spreads(cli, prompts):
    assert simulate(cli, "--prompts", prompts, "--k", 2, "--baseline", "--out", "pilot").code == 0
    result = simulate(cli, "--prompts", prompts, "--k", "2,3", "--dry-run", "--like", "pilot", "--max-new-tokens", 64)
    said = " ".join(result.out.split())
    assert "minutes at the pace of `pilot`" in said
    assert "`pilot` had answers of at most 128 tokens, not 64" in said
    assert "`simulated-k3` goes by `simulated-k2` of `pilot`, which drafts 2" in said
    (k2, k3) = rows(result, "all", "8")[0][1::2]
    assert k2 == k3


def test_an_earlier_run_of_other_arms_gives_no_minutes(cli, prompts, imported):
    result = simulate(cli, "--prompts", prompts, "--dry-run", "--like", imported)
    assert result.code == 0
    assert f"`{imported}` has no times of an arm like `simulated-k4`" in result.out
    assert "minutes at the pace" not in result.out
    assert f"`{imported}` does not say how long its answers could be" in " ".join(result.out.split())
    assert rows(result, "all", "8") == [["–"]]


def test_a_real_model_is_planned_without_its_weights(cli, prompts, bench, monkeypatch):
    monkeypatch.setattr("specprof.engines.huggingface.load.load", lambda config: pytest.fail("weights were loaded"))
    model = ("--model", bench.folders["target"], "--prompts", prompts, "--dry-run")
    result = cli("run", *model, "--fixed-length", 8)
    assert result.code == 0
    assert "8 new tokens each" in result.out
    assert rows(result, "a", "128-512") == [["1", "1"]]
    wrong = cli("run", *model, "--method", "medusa")
    assert (wrong.code, wrong.out) == (2, "")


def test_a_run_that_is_not_there_is_no_model_for_another(cli, prompts):
    result = simulate(cli, "--prompts", prompts, "--dry-run", "--like", "nowhere")
    assert result.code == 2
    assert "nowhere" in result.err


def test_a_run_of_another_model_is_used_with_a_word_of_warning(cli, prompts, bench):
    cli("run", "--model", bench.folders["noisy"], "--prompts", prompts, "--out", "pilot", "--no-calibrate", "--k", 2)
    result = cli("run", "--model", bench.folders["target"], "--prompts", prompts, "--dry-run", "--like", "pilot")
    assert result.code == 0
    assert f"is a run of `{bench.folders['noisy']}`" in result.out.replace("\n", "")


def test_one_prompt_has_no_half_width(cli, tmp_path):
    (tmp_path / "words.txt").write_text("w2 w3\n")
    result = simulate(cli, "--prompts", "words.txt", "--dry-run")
    assert rows(result, "words", "1") == [["–"]]
    assert "–: fewer than two clusters" in result.out
