"""specprof.toml and SPECPROF_* reach the commands; flags win over the environment, which wins over the file."""

import inspect

import pytest

from specprof.cli.app import app
from specprof.config.keys import KEYS

# What makes no sense as a standing setting.
ONLY_FLAGS = {
    "run": {"context", "resume", "skip_bad", "dry_run", "like"},
    "report": {"runs", "as_json", "csv", "skip_bad"},
    "gate": {"run", "rule", "as_json", "skip_bad"},
    "calibrate": {"context", "as_json", "skip_bad"},
    "doctor": {"context", "as_json", "skip_bad"},
    "verify": {"context", "from_run", "as_json", "skip_bad"},
}


def test_every_option_can_be_a_setting_and_every_setting_is_an_option():
    commands = {command.name: inspect.signature(command.callback).parameters for command in app.registered_commands}
    assert set(ONLY_FLAGS) == set(KEYS)
    for name, only in ONLY_FLAGS.items():
        assert set(commands[name]) - only == set(KEYS[name]) - {"rules"}


def test_a_flag_wins_over_the_environment_and_that_over_the_file(cli, imported, tmp_path, monkeypatch):
    def threshold(*flags):
        (arm,) = cli("report", imported, "--json", *flags).json["arms"]
        return arm["overall"]["rule"]["threshold"]["value"]

    (tmp_path / "specprof.toml").write_text("[report]\nalpha = 0.1\nbeta = 0.02\n")
    assert threshold() == pytest.approx(1.12)
    monkeypatch.setenv("SPECPROF_REPORT_ALPHA", "0.2")
    assert threshold() == pytest.approx(1.22)
    assert threshold("--alpha", 0.3) == pytest.approx(1.32)


def test_arms_and_sweeps_may_stand_in_the_file_or_the_environment(cli, tmp_path, monkeypatch):
    def arms(*flags):
        (tmp_path / "words.txt").write_text("a b c\n")
        result = cli("run", "--engine", "simulated-prefix", "--prompts", "words.txt", "--dry-run", *flags)
        return [line.split()[0] for line in result.out.splitlines() if " simulated " in line]

    assert arms() == ["simulated-k4"]
    (tmp_path / "specprof.toml").write_text('[run]\nk = "2,3"\narm = ["a=method=simulated", "b=k=6"]\n')
    assert arms() == ["a-k2", "a-k3", "b"]
    monkeypatch.setenv("SPECPROF_RUN_K", "5,7")
    monkeypatch.setenv("SPECPROF_RUN_ARM", "c=method=simulated; d=k=1")
    assert arms() == ["c-k5", "c-k7", "d"]
    assert arms("--k", 8, "--arm", "e=method=simulated") == ["e"]


def test_rules_may_stand_in_the_file_or_the_environment(cli, imported, tmp_path, monkeypatch):
    (tmp_path / "specprof.toml").write_text('[gate]\nrules = ["mean_accepted > 1.5"]\n')
    assert cli("gate", imported).code == 0
    monkeypatch.setenv("SPECPROF_GATE_RULES", "mean_accepted > 1.5; mean_accepted > 2.5")
    assert cli("gate", imported).code == 1
    assert cli("gate", imported, "--rule", "mean_accepted > 1.9").code == 0


def test_a_bad_setting_stops_a_command_but_not_its_help(cli, tmp_path):
    (tmp_path / "specprof.toml").write_text("[report]\nalhpa = 0.1\n")
    result = cli("report", "x")
    assert result.code == 2
    assert "did you mean `alpha`?" in result.err
    assert cli("report", "--help").code == 0
