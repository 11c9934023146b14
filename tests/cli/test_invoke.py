"""What holds for every command: exit codes, the shape of an error, and what is never imported."""

import errno
import os
import subprocess
import sys

import pytest

import specprof
from specprof.cli.app import app

LOADED = """
import sys
from specprof.cli import invoke
code = invoke(sys.argv[1:])
print({} & set(sys.modules))
sys.exit(code)
"""


def python(code, *argv):
    return subprocess.run([sys.executable, "-c", code, *argv], capture_output=True, text=True)


def test_help_and_version_import_nothing_heavy():
    code = LOADED.format({"numpy", "pandas", "pyarrow", "scipy", "torch", "transformers"})
    for argv in (["--help"], ["--version"], ["report", "--help"], ["run", "--help"], ["gate", "--help"]):
        process = python(code, *argv)
        assert process.returncode == 0, process.stderr
        assert process.stdout.splitlines()[-1] == "set()", argv


def test_judging_imports_no_torch(imported, tmp_path):
    code = LOADED.format({"torch", "transformers"})
    for argv in (["report"], ["gate", "--rule", "mean_accepted > 1"]):
        assert python(code, argv[0], str(tmp_path / imported), *argv[1:]).stdout.splitlines()[-1] == "set()"


def test_the_version_is_the_packages_own(cli):
    assert cli("--version").out == f"specprof {specprof.__version__}\n"


@pytest.mark.parametrize(
    ("argv", "words", "hint"),
    [
        (["reprot"], "No such command", "see `specprof --help`"),
        (["report"], "RUN", "see `specprof report --help`"),
        (["report", "nowhere"], "`nowhere` is not a run directory", "--out"),
        (["report", "nowhere", "--alpha", "much"], "--alpha", "see `specprof report --help`"),
        (["report", "nowhere", "--json", "--csv"], "exclude each other", "choose one"),
        (["gate", "nowhere"], "no rules", "--rule"),
        (["run", "--engine", "simulated-prefix"], "no prompts", "--prompts"),
        (
            ["run", "--engine", "hugingface", "--prompts", "p"],
            "unknown engine `hugingface`",
            "did you mean `huggingface`?",
        ),
        (["run", "--resume", "--prompts", "p"], "--resume", "--out RUN"),
        (["import", "nowhere.jsonl", "--out", "x"], "nowhere.jsonl", ""),
    ],
)
def test_a_usage_error_is_two_lines_and_exit_code_2(cli, argv, words, hint):
    result = cli(*argv)
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("error: ")
    assert words in result.err
    assert hint in result.err
    assert "Traceback" not in result.err


def failing(monkeypatch, error):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr("specprof.store.read.read_run", fail)


def test_an_error_of_ours_never_exits_1(cli, monkeypatch):
    failing(monkeypatch, ZeroDivisionError("division by zero"))
    result = cli("report", "x")
    assert result.code == 70
    assert result.err.startswith("error: internal error: ZeroDivisionError: division by zero\nhint: ")
    assert "Traceback" not in result.err


def test_debug_shows_the_traceback(cli, monkeypatch):
    failing(monkeypatch, ZeroDivisionError("division by zero"))
    assert "Traceback" in cli("--debug", "report", "x").err


def test_a_full_disk_is_the_environment(cli, monkeypatch):
    failing(monkeypatch, OSError(errno.ENOSPC, "No space left on device", "/runs"))
    result = cli("report", "x")
    assert (result.code, result.err.splitlines()[0]) == (4, "error: `/runs`: No space left on device")


def test_an_interrupt_is_130(cli, monkeypatch):
    failing(monkeypatch, KeyboardInterrupt())
    assert cli("report", "x").code == 130


def test_every_command_has_an_example():
    for command in app.registered_commands:
        assert "Example: specprof " in command.callback.__doc__, command.name


def test_quiet_hides_warnings_and_verbose_tells_every_request(cli, rounds, tmp_path):
    rounds.write_text(rounds.read_text() + "nonsense\n")
    argv = ("import", rounds, "--skip-bad", "--out")
    assert "warning: skipped" in cli(*argv, "one").err
    assert cli("-q", *argv, "two").err == ""
    (tmp_path / "words.jsonl").write_text('{"prompt": "hi", "id": "p7"}\n')
    simulate = ("run", "--engine", "simulated-prefix", "--prompts", "words.jsonl", "--out")
    assert cli(*simulate, "three").err == "read 1 prompt, prompt layout, 1 task\n"
    assert cli("-q", *simulate, "silent").err == ""
    assert "1/1 measure words p7 simulated-k4" in cli("-v", *simulate, "four").err


@pytest.mark.parametrize("argv", [["report"], ["report", "--json"], ["gate", "--rule", "mean_accepted > 0"]])
def test_a_reader_that_leaves_is_no_failed_check(imported, tmp_path, argv):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "specprof", argv[0], tmp_path / imported, *argv[1:]]
    process = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert process.returncode == 141
    assert process.stderr == b""


def test_a_terminal_without_the_letters_gets_their_codes(imported, tmp_path):
    command = [sys.executable, "-m", "specprof", "report", tmp_path / imported]
    process = subprocess.run(command, capture_output=True, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert process.returncode == 0
    assert rb"\xb7" in process.stdout


def test_shell_completion_is_no_failure(tmp_path):
    environment = os.environ | {"_SPECPROF_COMPLETE": "complete_bash", "COMP_WORDS": "specprof re", "COMP_CWORD": "1"}
    process = subprocess.run([sys.executable, "-m", "specprof"], capture_output=True, text=True, env=environment)
    assert process.returncode == 0
    assert "report" in process.stdout


def test_ctrl_c_is_said(cli, monkeypatch):
    failing(monkeypatch, KeyboardInterrupt())
    assert cli("report", "x").err == "error: interrupted\n"


@pytest.mark.parametrize(
    ("redirect", "code"), [("2>/dev/full", 2), ("2>&-", 2), (">&- 2>/dev/null", 2), ("2>&1 >/dev/null | true", 2)]
)
def test_an_error_that_nobody_can_read_keeps_its_exit_code(tmp_path, redirect, code):
    command = f"set -o pipefail; {sys.executable} -m specprof gate nowhere --rule 'requests > 0' {redirect}"
    process = subprocess.run(["bash", "-c", command], cwd=tmp_path, stdout=subprocess.DEVNULL)
    assert process.returncode == code


def test_a_report_to_a_closed_stdout_is_no_crash(imported, tmp_path):
    command = f"{sys.executable} -m specprof report {tmp_path / imported} >&-"
    process = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (process.returncode, process.stderr) == (0, "")


@pytest.mark.parametrize("stop", [SystemExit(0), SystemExit(), SystemExit("bye")])
@pytest.mark.parametrize("method", ["generate", "describe", "__enter__"])
def test_an_engine_that_ends_the_program_is_no_success(cli, tmp_path, monkeypatch, method, stop):
    def end(*args):
        raise stop

    monkeypatch.setattr(f"specprof.engines.simulated.PrefixEngine.{method}", end)
    (tmp_path / "words.jsonl").write_text('{"prompt": "hi"}\n')
    result = cli("run", "--engine", "simulated-prefix", "--prompts", "words.jsonl", "--out", "run")
    assert result.code == 4
    assert "an engine ended the program" in result.err
