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
    (tmp_path / "p.jsonl").write_text('{"prompt": "w2 w3"}\n{"messages": [{"role": "user", "content": "w4"}]}\n')
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
