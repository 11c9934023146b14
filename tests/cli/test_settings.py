"""specprof.toml and SPECPROF_* reach the commands; flags win over the environment, which wins over the file."""

import inspect

import pytest

from specprof.cli.app import app
from specprof.config.keys import KEYS

# What makes no sense as a standing setting.
ONLY_FLAGS = {
    "run": {"resume", "skip_bad"},
    "report": {"runs", "as_json", "csv", "skip_bad"},
    "gate": {"run", "rule", "as_json", "skip_bad"},
}


def test_every_option_can_be_a_setting_and_every_setting_is_an_option():
    commands = {command.name: inspect.signature(command.callback).parameters for command in app.registered_commands}
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
