"""`specprof verify` on tiny real models."""

import json

import pytest


@pytest.fixture
def verify(cli, bench, tiny, tmp_path):
    file = tmp_path / "words.jsonl"
    prompts = [{"id": f"p{index}", "prompt": tiny.prompt(index).text} for index in range(20)]
    file.write_text("".join(json.dumps(prompt) + "\n" for prompt in prompts))
    return lambda *more: cli("verify", "--model", bench.folders["target"], "--prompts", file, "--threads", 1, *more)


def test_greedy_drafting_is_lossless(verify, bench):
    result = verify("--draft", bench.folders["noisy"], "--max-new-tokens", 12)
    assert result.code == 0
    assert result.out.startswith("lossless     draft_model-k4: 20 answers")
    assert "identical 100.0% [83.9%, 100.0%] of 20" in result.out
    assert result.out.endswith("verify: lossless\n")


def test_arms_are_compared_side_by_side_with_every_figure_in_the_json(verify, bench):
    arms = ["--arm", f"a=method=draft_model,draft={bench.folders['noisy']}", "--arm", "b=method=prompt_lookup,k=2"]
    result = verify(*arms, "--temperature", 1, "--top-k", 4, "--repeat", 30, "--limit", 1, "--json")
    document = result.json
    assert (document["schema"], document["outcome"], result.code) == ("specprof.verify/1", "inconclusive", 3)
    assert (document["samples"], document["max_new_tokens"], document["temperature"]) == (30, 8, 1)
    assert [(arm["arm"], arm["answers"]) for arm in document["arms"]] == [("a", 30), ("b", 30)]
    for arm in document["arms"]:
        first, *_, length = arm["tests"]
        assert (first["test"], first["chi_square"]["n"], length["test"]) == ("first", 30, "length")
        assert first["chi_square"]["distance"].keys() == {"value", "low", "high", "n", "reason"}
        assert arm["greedy"] is None


def test_few_samples_end_inconclusive_and_say_what_they_could_see(verify):
    result = verify("--method", "prompt_lookup", "--temperature", 1, "--top-k", 4, "--repeat", 20, "--limit", 1)
    assert result.code == 3
    assert "times the samples" in result.out
    assert "first: first token against the target's distribution" in result.out
    assert max(map(len, result.out.splitlines())) <= 110


def test_a_recorded_run_is_compared_without_a_model(cli, bench, verify, tmp_path):
    run = ["--model", bench.folders["target"], "--prompts", tmp_path / "words.jsonl", "--max-new-tokens", 8]
    assert cli("run", *run, "--method", "prompt_lookup", "--baseline", "--no-calibrate", "--out", "run").code == 0
    result = cli("verify", "--from", "run")
    assert (result.code, result.out.splitlines()[-1]) == (0, "verify: lossless")


@pytest.mark.parametrize("flag", ["--model", "--temperature", "--repeat", "--prompts", "--seed"])
def test_a_flag_that_a_recorded_run_does_not_obey_is_refused(cli, flag):
    result = cli("verify", "--from", "run", flag, 1)
    assert (result.code, result.out) == (2, "")
    assert f"error: `{flag}`: a recorded run is compared as it is" in result.err


def test_settings_of_a_folder_do_not_stop_the_comparison_of_a_recorded_run(cli, tmp_path):
    simulated = ("--engine", "simulated-prefix", "--method", "simulated", "--baseline", "--no-calibrate")
    (tmp_path / "p.jsonl").write_text("".join(f'{{"prompt": "say {i}"}}\n' for i in range(16)))
    assert cli("run", *simulated, "--prompts", "p.jsonl", "--save-text", "--out", "run").code == 0
    (tmp_path / "specprof.toml").write_text('[verify]\nmodel = "elsewhere"\n')
    assert cli("verify", "--from", "run", "--resolution", 0.1).out.endswith("verify: lossless\n")


def test_greedy_answers_of_an_engine_that_uses_its_seeds_are_the_same(cli, tmp_path):
    (tmp_path / "p.jsonl").write_text("".join(f'{{"prompt": "say {i}"}}\n' for i in range(16)))
    result = cli("verify", "--engine", "simulated-prefix", "--method", "simulated", "--prompts", "p.jsonl")
    assert "identical 100.0% [80.6%, 100.0%] of 16" in result.out
    assert result.out.endswith("verify: lossless\n")


def test_turns_that_need_an_earlier_answer_are_left_out_and_counted(cli, tmp_path):
    turns = [{"question_id": i, "category": "chat", "turns": ["say it", "again", "and again"]} for i in range(16)]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(record) + "\n" for record in turns))
    simulated = ("--engine", "simulated-prefix", "--method", "simulated", "--prompts", "p.jsonl")
    reason = "turn that follows an answer which the data does not hold"
    assert f"left out: 32 × {reason}" in cli("verify", *simulated).out.splitlines()
    document = cli("verify", *simulated, "--json").json
    assert (document["prompts"], document["left_out"]) == (16, {reason: 32})
    assert [arm["answers"] for arm in document["arms"]] == [16]


def test_what_the_doctor_calls_a_blocker_stops_the_comparison(verify, bench, tiny, tmp_path):
    other = tiny.save(tiny.build_model(), tmp_path / "other", tiny.build_tokenizer(prefix="v"))
    result = verify("--draft", other)
    assert (result.code, result.out) == (4, "")


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (["--repeat", 5], "temperature 0"),
        (["--resolution", 2], "no share"),
        (["--max-new-tokens", 3], "cut short"),
        (["--temperature", 1, "--repeat", 1], "one sample"),
    ],
)
def test_a_request_that_could_show_nothing_is_refused(verify, flags, problem):
    result = verify("--method", "prompt_lookup", *flags)
    assert result.code == 2
    assert problem in result.err
    assert "hint:" in result.err


def test_prompts_are_needed(cli, bench):
    result = cli("verify", "--model", bench.folders["target"], "--method", "prompt_lookup")
    assert (result.code, result.out) == (2, "")
    assert "--prompts FILE" in result.err
