import json

import pytest


@pytest.fixture
def models(bench):
    return ["--model", bench.folders["target"], "--device", "cpu", "--threads", "1"]


def test_a_sound_pair_exits_0_with_one_block_per_finding_in_100_columns(cli, bench, models):
    result = cli("doctor", *models, "--draft", bench.folders["noisy"])
    assert result.code == 0, result.out + result.err
    *_, last = result.out.splitlines()
    assert last.startswith("doctor: no blockers, ")
    assert "100.0% of the tokens have the same id" in " ".join(result.out.split())
    assert all(len(line) <= 100 or "/" in line for line in result.out.splitlines())


def test_a_blocker_exits_4_and_says_what_to_type(cli, bench, tiny, models, tmp_path):
    other = tiny.save(tiny.build_model(), tmp_path / "other", tiny.build_tokenizer(prefix="v"))
    result = cli("doctor", *models, "--draft", other)
    assert result.code == 4
    assert "blocker  tokenizers" in result.out
    assert "hint: pass a draft with the target's own tokenizer" in " ".join(result.out.split())
    assert "doctor: 1 blocker, " in result.out


def test_the_document_holds_every_finding_with_its_figures(cli, models, tmp_path):
    (tmp_path / "p.jsonl").write_text('{"prompt": "w2 w3"}\n{"prompt": "w4"}\n')
    result = cli("doctor", *models, "--method", "prompt_lookup", "--prompts", "p.jsonl", "--out", "runs/x", "--json")
    assert (result.code, result.json["schema"], result.json["blockers"]) == (0, "specprof.doctor/1", 0)
    findings = {finding["what"]: finding for finding in result.json["findings"]}
    assert findings["round-trip"]["figures"] == {"tried": 6, "kept": 2}
    assert set(findings["disk"]) == {"what", "level", "value", "meaning", "hint", "figures"}


def test_a_missing_model_is_a_fault_of_the_command_line(cli):
    result = cli("doctor")
    assert (result.code, result.out) == (2, "")
    assert "hint: pass `--model FOLDER`" in result.err


def test_an_engine_that_diagnoses_nothing_is_asked_whether_it_would_run(cli):
    assert cli("doctor", "--engine", "simulated-prefix").code == 0
    result = cli("doctor", "--engine", "simulated-prefix", "--model", "x")
    assert result.code == 4
    assert "blocker  configuration" in result.out


def test_an_arm_of_flags_is_looked_at_as_a_run_would_take_it(cli):
    simulated = ("doctor", "--engine", "simulated-prefix", "--method", "simulated")
    assert cli(*simulated, "--k", 2, "--schedule", "constant").code == 0
    result = cli(*simulated, "--schedule", "confidence")
    assert (result.code, "has no schedule `confidence`" in " ".join(result.out.split())) == (4, True)


def test_what_is_refused_only_while_sampling_shows_at_a_temperature(cli, models):
    lookup = ("doctor", *models, "--method", "prompt_lookup")
    assert cli(*lookup, "--temperature", 1, "--top-k", 4).code == 0
    result = cli(*lookup, "--top-k", 4)
    assert (result.code, "decodes greedily" in result.out + result.err) == (2, True)


def test_a_prompt_that_the_model_cannot_take_is_a_blocker_as_in_a_run(cli, models, tmp_path):
    chat = '{"messages": [{"role": "user", "content": "w4"}]}\n'
    (tmp_path / "p.jsonl").write_text('{"prompt": "w2 w3"}\n' + chat)
    lookup = (*models, "--method", "prompt_lookup", "--prompts", "p.jsonl")
    result = cli("doctor", *lookup)
    problem = "`p.jsonl:2` is a chat record, and the model has no chat template"
    assert (result.code, problem in " ".join(result.out.split())) == (4, True)
    run = cli("run", *lookup, "--out", "run")
    assert (run.code, problem in run.err) == (2, True)


def test_prompts_are_read_with_the_flags_of_a_run(cli, models, tmp_path):
    (tmp_path / "p.jsonl").write_text('{"deep": {"words": "w2 w3"}, "kind": "x"}\n')
    lookup = ("doctor", *models, "--method", "prompt_lookup", "--prompts", "p.jsonl")
    assert cli(*lookup).code == 2
    assert cli(*lookup, "--field", "deep.words", "--task-field", "kind", "--limit", 1).code == 0


def test_what_the_plan_of_a_run_refuses_is_a_blocker(cli, tmp_path):
    simulated = ("doctor", "--engine", "simulated-prefix", "--method", "simulated")
    assert cli(*simulated, "--k", 5000).code == 4
    (tmp_path / "p.jsonl").write_text('{"question_id": 1, "category": "chat", "turns": ["say it", "again"]}\n')
    result = cli(*simulated, "--prompts", "p.jsonl")
    assert (result.code, "hint: add `--baseline`" in result.out) == (4, True)
    assert cli(*simulated, "--prompts", "p.jsonl", "--baseline").code == 0


def test_every_command_names_the_same_prompt_first(cli, models, tmp_path):
    """Line 2 has the id that sorts last."""
    chats = [{"id": f"p{99 - i}", "messages": [{"role": "user", "content": "w4"}]} for i in range(12)]
    (tmp_path / "p.jsonl").write_text("\n" + "".join(json.dumps(chat) + "\n" for chat in chats))
    asked = (*models, "--method", "prompt_lookup", "--prompts", "p.jsonl")
    for command in (["doctor"], ["run"], ["run", "--dry-run"], ["verify"], ["calibrate"]):
        result = cli(*command, *asked)
        assert "`p.jsonl:2` is a chat record" in " ".join((result.out + result.err).split()), command
