import gzip
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import specprof


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
    return lambda *more: cli("run", "--model", bench.folders["target"], "--out", "run", "--max-new-tokens", 8, *more)


def test_a_run_ends_with_the_command_to_type_next(cli, prompts):
    result = simulate(cli, "--prompts", prompts)
    assert (result.code, result.out, result.err) == (0, "specprof report run\n", "")


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
        (["--samples", 2], 2, "temperature 0"),
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
    assert "disk is full" in result.err


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
