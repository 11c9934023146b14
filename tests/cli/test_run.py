import gzip
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import specprof
from specprof.records import Finding, Request

READ = "read 4 prompts, prompt layout, 1 task\n"


@pytest.fixture
def prompts(tmp_path):
    file = tmp_path / "words.jsonl"
    file.write_text("".join(json.dumps({"prompt": f"w2 w3 w4 w{i} w2 w3", "id": f"p{i}"}) + "\n" for i in range(2, 6)))
    return file


def simulate(cli, *more):
    return cli("run", "--engine", "simulated-prefix", "--out", "run", *more)


@pytest.fixture
def real(cli, bench):
    """`specprof run` on a tiny real model."""
    command = ("run", "--model", bench.folders["target"], "--out", "run", "--max-new-tokens", 8, "--no-calibrate")
    return lambda *more: cli(*command, *more)


def test_a_run_ends_with_the_command_to_type_next(cli, prompts):
    result = simulate(cli, "--prompts", prompts)
    assert (result.code, result.out, result.err) == (0, "specprof report run\n", READ)


def test_a_real_model_is_measured_beside_its_baseline(real, prompts, cli):
    assert real("--prompts", prompts, "--method", "prompt_lookup", "--k", 3, "--baseline").code == 0
    frame = specprof.load("run")
    measured = frame[frame["phase"] == "measure"]
    assert measured.groupby("arm").size().to_dict() == {"baseline": 4, "prompt_lookup-k3": 4}
    assert frame[frame["phase"] == "warmup"].groupby("arm").size().to_dict() == {"baseline": 1, "prompt_lookup-k3": 1}
    hashes = measured.groupby("prompt_id")["output_sha256"].nunique()
    assert set(hashes) == {1}  # greedy: both arms give the same answer
    assert set(measured["task"]) == {"words"}
    info = json.loads(Path("run/run.json").read_text())
    assert info["arms"]["prompt_lookup-k3"]["options"] == {"max_matching_ngram_size": 2}
    assert (info["prompts"]["count"], info["prompts"]["templates"], info["state"]) == (4, {"raw": 4}, "complete")
    assert len(info["weights"]) == 1
    assert info["threads"] >= 1
    (arm,) = cli("report", "run", "--json").json["arms"]
    assert arm["overall"]["measured"]["decode"]["n"] == 4


def test_a_draft_speaks_for_itself(real, prompts, bench):
    assert real("--prompts", prompts, "--draft", bench.folders["noisy"], "--schedule", "confidence").code == 0
    assert set(specprof.load("run")["arm"]) == {"draft_model-k4-confidence"}
    (arm,) = json.loads(Path("run/run.json").read_text())["arms"].values()
    assert (arm["k"], arm["schedule"], arm["threshold"]) == (4, "confidence", 0.4)


def info():
    return json.loads(Path("run/run.json").read_text())


def test_many_arms_run_next_to_each_other(real, prompts, bench):
    arms = (f"noisy=draft={bench.folders['noisy']}", "lookup=method=prompt_lookup,k=3,max_matching_ngram_size=1")
    assert real("--prompts", prompts, "--arm", arms[0], "--arm", arms[1], "--k", "2,4", "--baseline").code == 0
    frame = specprof.load("run")
    measured = frame[frame["phase"] == "measure"]
    assert measured.groupby("arm").size().to_dict() == {"noisy-k2": 4, "noisy-k4": 4, "lookup": 4, "baseline": 4}
    assert measured.groupby("block")["arm"].nunique().tolist() == [4, 4, 4, 4]
    assert set(measured.groupby("prompt_id")["output_sha256"].nunique()) == {1}
    assert [(name, arm["k"]) for name, arm in info()["arms"].items()] == [
        ("noisy-k2", 2),
        ("noisy-k4", 4),
        ("lookup", 3),
        ("baseline", 0),
    ]
    assert info()["arms"]["lookup"]["options"] == {"max_matching_ngram_size": 1}


def test_repeats_are_answers_with_seeds_of_their_own(cli, prompts):
    assert simulate(cli, "--prompts", prompts, "--repeat", 3, "--temperature", 1).code == 0
    frame = specprof.load("run")
    measured = frame[frame["phase"] == "measure"]
    assert measured.groupby("prompt_id")["seed"].nunique().tolist() == [3, 3, 3, 3]
    assert sorted(set(measured["sample"])) == [0, 1, 2]
    assert info()["repeats"] == 3


def test_a_fixed_length_and_token_detail_are_asked_of_the_engine_and_recorded(cli, prompts):
    assert simulate(cli, "--prompts", prompts, "--fixed-length", 7, "--detail", "tokens").code == 0
    assert set(specprof.load("run")["response_tokens"]) == {7}
    assert (info()["fixed_length"], info()["max_new_tokens"], info()["token_detail"]) == (True, 7, True)


def test_costs_are_measured_before_and_after_unless_that_is_declined(cli, prompts):
    simulate(cli, "--prompts", prompts)
    assert [occasion["when"] for occasion in info()["calibration"]] == ["before", "after"]
    cli("run", "--engine", "simulated-prefix", "--prompts", prompts, "--out", "other", "--no-calibrate")
    assert json.loads(Path("other/run.json").read_text())["calibration"] == []


def test_a_run_until_there_is_enough_says_how_far_it_came(cli, tmp_path):
    lines = [{"prompt": f"{task} word {i}", "id": f"{task}{i}", "task": task} for task in ("a", "b") for i in range(6)]
    (tmp_path / "words.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines[:9]))
    result = simulate(cli, "--prompts", "words.jsonl", "--until-n", 4)  # six prompts of a, three of b
    assert result.code == 0
    *lines, command = result.out.splitlines()
    assert command == "specprof report run"
    assert [line.partition(":")[0] for line in lines] == [f"{task}, prompts of 0-128 tokens" for task in ("a", "b")]
    assert "1 more prompt needed" in lines[1]
    frame = specprof.load("run")
    assert frame[frame["phase"] == "measure"].groupby("task").size().to_dict() == {"a": 4, "b": 3}


def test_fields_of_records_in_no_known_layout_are_named(cli, tmp_path):
    (tmp_path / "odd.jsonl").write_text('{"example": {"question": "hi"}, "kind": "greeting"}\n')
    assert simulate(cli, "--prompts", "odd.jsonl", "--field", "example.question", "--task-field", "kind").code == 0
    assert set(specprof.load("run")["task"]) == {"greeting"}


def test_the_last_piece_of_a_run_is_done_with_resume(cli, prompts, tmp_path):
    simulate(cli, "--prompts", prompts)
    run_json = tmp_path / "run" / "run.json"
    run_json.write_text(run_json.read_text().replace('"complete"', '"interrupted"'))
    for shard in (tmp_path / "run" / "requests").iterdir():
        shard.unlink()
    assert simulate(cli, "--prompts", prompts, "--resume").code == 0
    frame = specprof.load("run")
    assert sorted(frame[frame["phase"] == "measure"]["prompt_id"]) == ["p2", "p3", "p4", "p5"]
    assert simulate(cli, "--prompts", prompts, "--resume").code == 0  # complete: nothing to do
    other = simulate(cli, "--prompts", prompts, "--resume", "--k", 2)
    assert other.code == 2
    assert "`arms.simulated-k4` is gone; `arms.simulated-k2` is new" in other.err


def test_a_real_run_goes_on_where_it_was_cut(real, prompts, tmp_path):
    command = ("--prompts", prompts, "--baseline")
    assert real(*command).code == 0
    whole = specprof.load("run").set_index(["prompt_id", "arm", "phase"])["output_sha256"].to_dict()
    run_json = tmp_path / "run" / "run.json"
    run_json.write_text(run_json.read_text().replace('"complete"', '"interrupted"'))
    for shard in (tmp_path / "run" / "requests").iterdir():
        shard.unlink()
    assert real(*command, "--resume").code == 0
    assert specprof.load("run").set_index(["prompt_id", "arm", "phase"])["output_sha256"].to_dict() == whole


def test_a_place_that_cannot_hold_a_run_is_refused_before_weights_load(real, prompts, tmp_path, monkeypatch):
    monkeypatch.setattr("specprof.engines.huggingface.load.load", lambda config: pytest.fail("weights were loaded"))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").touch()
    result = real("--prompts", prompts)
    assert result.code == 2
    assert "not empty" in result.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (b'{"promt": "hi"}\n', "`words.jsonl:1`"),
        (b'{"prompt": "hi"}\n{"prompt": 3}\n', "`words.jsonl:2`"),
        (b'{"prompt": "\xff"}\n', "UTF-8"),
        (b'{"prompt": "a", "id": "x"}\n{"prompt": "b", "id": "x"}\n', "`words.jsonl:1`"),
        (b'{"prompt": "a", "output_tokens": 0}\n', "output_tokens"),
    ],
)
def test_bad_prompts_stop_before_anything_is_run(cli, tmp_path, monkeypatch, content, words):
    (tmp_path / "words.jsonl").write_bytes(content)
    result = simulate(cli, "--prompts", "words.jsonl")
    assert result.code == 2
    assert words in result.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "content",
    [
        b'\xef\xbb\xbf{"prompt": "hi"}\r\n{"prompt": "ho"}\r\n',
        b'{"prompt": "hi"}\n\n{"prompt": "' + b"long " * 1_000_000 + b'"}',
        gzip.compress(b'{"prompt": "hi"}\n{"prompt": "ho"}\n', mtime=0),
    ],
)
def test_odd_but_sound_files_are_read(cli, tmp_path, content):
    (tmp_path / "words.jsonl").write_bytes(content)
    assert simulate(cli, "--prompts", "words.jsonl").code == 0
    assert (specprof.load("run")["phase"] == "measure").sum() == 2


def test_one_bad_record_is_skipped_and_counted_on_request(cli, tmp_path):
    (tmp_path / "words.jsonl").write_text('{"prompt": "hi"}\n{"prompt": ""}\n')
    result = simulate(cli, "--prompts", "words.jsonl", "--skip-bad")
    assert result.code == 0
    assert "words.jsonl:2" in result.err
    assert json.loads((tmp_path / "run" / "run.json").read_text())["prompts"]["skipped"] == 1


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (["--k", 0], 2, "k = 0"),
        (["--k", 0, "--method", "prompt_lookup"], 2, "k = 0"),
        (["--max-new-tokens", 0], 2, "--max-new-tokens 0"),
        (["--repeat", 2], 2, "temperature 0"),
        (["--repeat", 0, "--temperature", 1], 2, "--repeat 0"),
        (["--k", "2,4,2"], 2, "names 2 twice"),
        (["--arm", "a=method=prompt_lookup,speed=3"], 2, "speed"),
        (["--arm", "a=method=prompt_lookup,max_matching_ngram_size=two"], 2, "max_matching_ngram_size"),
        (["--until-n", 0], 2, "--until-n"),
        (["--fixed-length", 0], 2, "--fixed-length"),
        (["--detail", "all"], 2, "--detail"),
        (["--costs", "nowhere.json"], 2, "nowhere.json"),
        (["--costs", "nowhere.json", "--dry-run"], 2, "nowhere.json"),
        (["--like", "earlier"], 2, "`--like earlier` changes nothing"),
        (["--resume", "--dry-run"], 2, "`--dry-run` plans a new run"),
        (["--model", "no/such-model"], 4, "no/such-model"),
        (["--draft", "no/such-draft"], 4, "no/such-draft"),
        (["--engine-option", "num_beams=4"], 2, "num_beams"),
        (["--engine-option", "num_beams"], 2, "NAME=VALUE"),
        (["--method", "medusa"], 2, "medusa"),
        (["--schedule", "confidence"], 2, "confidence"),
    ],
)
def test_a_wrong_setting_is_named_before_weights_load(real, prompts, monkeypatch, flags, code, words):
    monkeypatch.setattr("specprof.engines.huggingface.load.load", lambda config: pytest.fail("weights were loaded"))
    result = real("--prompts", prompts, *flags)
    assert result.code == code
    assert words in result.err


def test_chat_records_need_a_template(real, tmp_path):
    (tmp_path / "chat.jsonl").write_text('{"messages": [{"role": "user", "content": "w2"}]}\n')
    result = real("--prompts", "chat.jsonl")
    assert result.code == 2
    assert "chat.jsonl:1" in result.err
    assert "chat template" in result.err


def test_a_prompt_longer_than_the_context_is_counted_and_the_rest_is_run(real, tmp_path, cli):
    (tmp_path / "words.jsonl").write_text(
        json.dumps({"prompt": "w2 " * 400, "id": "long"}) + "\n" + json.dumps({"prompt": "w2 w3", "id": "short"}) + "\n"
    )
    assert real("--prompts", "words.jsonl").code == 0
    (arm,) = cli("report", "run", "--json").json["arms"]
    assert arm["overall"]["requests"] == 1
    assert arm["overall"]["excluded"] == {"prompt longer than the context": 1}


def test_a_full_disk_ends_with_exit_code_4(cli, small_disk, tmp_path):
    (tmp_path / "words.jsonl").write_text('{"prompt": "hi"}\n')
    result = cli("run", "--engine", "simulated-prefix", "--prompts", "words.jsonl", "--out", small_disk / "run")
    assert result.code == 4
    assert "free some space" in result.err


def test_a_read_only_folder_ends_with_exit_code_4(cli, freezable, tmp_path):
    folder, freeze = freezable
    freeze()
    (tmp_path / "words.jsonl").write_text('{"prompt": "hi"}\n')
    result = cli("run", "--engine", "simulated-prefix", "--prompts", "words.jsonl", "--out", folder / "run")
    assert result.code == 4
    assert str(folder) in result.err


def test_task_rules_of_the_settings_name_the_task(cli, tmp_path):
    (tmp_path / "specprof.toml").write_text('[[tasks]]\npattern = "def "\ntask = "code"\n')
    (tmp_path / "words.jsonl").write_text('{"prompt": "def f():"}\n{"prompt": "hi"}\n')
    simulate(cli, "--prompts", "words.jsonl")
    assert set(specprof.load("run")["task"]) == {"code", "words"}


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_shown_on_a_terminal_only(tmp_path, prompts, terminal):
    command = [
        sys.executable,
        "-m",
        "specprof",
        "run",
        "--engine",
        "simulated-prefix",
        "--prompts",
        prompts,
        "--out",
        "r",
    ]
    master, slave = pty.openpty()
    stderr = slave if terminal else subprocess.PIPE
    process = subprocess.run(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=stderr, env=os.environ | {"TERM": "xterm"}
    )
    os.close(slave)
    try:
        shown = os.read(master, 65536) if terminal else process.stderr
    finally:
        os.close(master)
    assert process.returncode == 0
    assert process.stdout == b"specprof report r\n"
    assert (b"4/4" in shown) == terminal


def test_what_the_doctor_finds_ends_a_run_or_is_said(cli, prompts, monkeypatch, tmp_path):
    found = [Finding("threads", "warning", "4 threads", "more than the cores", "pass `--threads 2`")]
    monkeypatch.setattr("specprof.doctor.examine", lambda engine, config, out: found)
    result = simulate(cli, "--prompts", prompts)
    assert (result.code, result.err) == (0, f"{READ}warning: 4 threads: more than the cores (pass `--threads 2`)\n")
    found.append(Finding("memory", "blocker", "1 GB free", "the target needs 2", "use a smaller one"))
    result = cli("run", "--engine", "simulated-prefix", "--prompts", prompts, "--out", "other")
    assert result.code == 4
    assert result.err.endswith("error: 1 GB free: the target needs 2\nhint: use a smaller one\n")
    assert not (tmp_path / "other").exists()


def test_k_given_twice_is_a_sweep(cli, prompts):
    assert simulate(cli, "--prompts", prompts, "--k", 2, "--k", "3,5").code == 0
    assert sorted(arm["k"] for arm in info()["arms"].values()) == [2, 3, 5]
    assert "names 2 twice" in simulate(cli, "--prompts", prompts, "--k", 2, "--k", 2).err


def test_a_k_of_the_settings_is_read_as_text_or_number(cli, prompts, tmp_path):
    for k, ks in (("4", [4]), ('"2,6"', [2, 6])):
        (tmp_path / "specprof.toml").write_text(f"[run]\nk = {k}\n")
        assert simulate(cli, "--prompts", prompts, "--out", f"run{len(ks)}").code == 0
        arms = json.loads(Path(f"run{len(ks)}/run.json").read_text())["arms"]
        assert sorted(arm["k"] for arm in arms.values()) == ks


def test_requests_without_an_answer_are_said(cli, prompts, monkeypatch):
    def skip(truth, job, config):
        return Request.skipped(job, "prompt longer than the context", 9)

    monkeypatch.setattr("specprof.engines.simulated.answer", skip)
    result = simulate(cli, "--prompts", prompts)
    assert result.code == 0
    assert "warning: 4 of 4 requests have no answer: prompt longer than the context (4)" in result.err


def test_a_resumed_run_may_name_its_prompts_and_arms_in_another_order(cli, prompts, tmp_path):
    other = tmp_path / "more.jsonl"
    other.write_text('{"prompt": "another", "id": "a"}\n')
    arms = ("--arm", "x=k=2", "--arm", "y=k=3")
    assert simulate(cli, "--prompts", prompts, "--prompts", other, *arms).code == 0
    order = ("--prompts", other, "--prompts", prompts, *arms[2:], *arms[:2])
    assert simulate(cli, *order, "--resume").code == 0
    frame = specprof.load("run")
    assert frame[frame["phase"] == "measure"].groupby("block")["prompt_id"].nunique().tolist() == [1] * 5


def test_an_answer_that_is_left_out_of_a_chat_is_said(cli, tmp_path):
    said = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    (tmp_path / "chat.jsonl").write_text(json.dumps({"messages": said}) + "\n")
    assert "the answer at the end of 1 left out" in simulate(cli, "--prompts", "chat.jsonl").err
