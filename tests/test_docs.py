"""The documentation against the code: no command, option, rule, column or number may drift."""

import inspect
import re
import shlex
import subprocess
import sys
import textwrap
from importlib.metadata import version
from pathlib import Path

import pytest

from specprof.cli.app import app
from specprof.gate import parse

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", "README.ko.md", "CHANGELOG.md", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/*.md"))]


def blocks(page, language=""):
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)


def command_lines(page):
    text = "\n".join(re.sub(r"\\\n\s*", "", block) for block in blocks(page, r"\w*"))
    for line in text.splitlines():
        found = re.match(r"\s*(?:- run: |\$ )?(?:\S*/bin/)?(specprof .*?)(?:\s+#.*)?$", line)
        if found and " · " not in line:
            yield found[1]


def options_of(command):
    for parameter in inspect.signature(command.callback).parameters.values():
        for info in getattr(parameter.annotation, "__metadata__", ()):
            words = [
                getattr(info, "default", None),
                *(getattr(info, "param_decls", None) or ()),
            ]  # typer keeps the first there
            declared = [name for word in words if isinstance(word, str) and word[0] == "-" for name in word.split("/")]
            yield from declared or [f"--{parameter.name.replace('_', '-')}"]


COMMANDS = {command.name: set(options_of(command)) | {"--help"} for command in app.registered_commands}


PINNED = re.search(r"^typer==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)[1]


@pytest.mark.skipif(version("typer") != PINNED, reason=f"the pages show the help of typer {PINNED}")
def test_generated_parts_are_up_to_date():
    check = subprocess.run([sys.executable, ROOT / "tools" / "docs.py", "--check"], capture_output=True, text=True)
    assert check.returncode == 0, check.stderr


@pytest.mark.parametrize("page", PAGES)
def test_every_command_line_uses_commands_and_options_that_exist(page):
    for line in command_lines(page):
        words = shlex.split(line)[1:]
        options = {word.partition("=")[0] for word in words if re.match(r"--[a-z]", word)}
        name = next((word for word in words if not word.startswith("-")), None)
        assert options <= (COMMANDS[name] if name else {"--help", "--version", "--debug"}), line


def test_the_readme_shows_command_lines():
    assert sum(1 for _ in command_lines("README.md")) >= 5


@pytest.mark.parametrize("page", PAGES)
def test_every_rule_can_be_read(page):
    text = (ROOT / page).read_text()
    for rule in re.findall(r"--rule '([^']+)'", text):
        if rule != "EXPR":
            parse(rule)


def test_the_rules_of_the_gate_page_can_be_read():
    (rules,) = blocks("docs/gate.md")
    lines = [re.split(r"\s{3,}", line)[0] for line in rules.strip().splitlines()]
    assert len(lines) >= 5
    for line in lines:
        parse(line)


def test_every_command_stands_in_the_docs():
    text = (ROOT / "docs" / "cli.md").read_text()
    for name in COMMANDS:
        assert f"$ specprof {name} --help" in text


@pytest.mark.parametrize("page", PAGES)
def test_links_to_files_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text()):
        if "://" not in target:
            assert ((ROOT / page).parent / target).exists(), target


def test_the_import_example_is_a_record_that_can_be_imported(tmp_path):
    from specprof.importers import read_native

    (line,) = blocks("docs/import.md", "json")
    (tmp_path / "example.jsonl").write_text(line)
    imported = read_native(tmp_path / "example.jsonl")
    assert (len(imported.requests), imported.unbalanced) == (1, 0)


def test_the_readmes_engine_is_short_and_keeps_the_contract(tmp_path):
    """Registered from outside the package by the entry point that the README names, and run by the command line."""
    text = (ROOT / "README.md").read_text()
    code = textwrap.dedent(re.search(r"<!-- engine -->\n```python\n(.*?)```", text, re.DOTALL)[1])
    assert len(code.strip().splitlines()) <= 40
    entry_point = re.search(r'`(replay = "replay:ReplayEngine")`', text)[1]
    (tmp_path / "replay.py").write_text(code)
    info = tmp_path / "replay-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: replay\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[specprof.engines]\n{entry_point.replace(chr(34), '')}\n")
    contract = "from specprof.testing import assert_engine_contract\nfrom replay import ReplayEngine\n"
    python = [sys.executable, "-W", "error"]
    environment = {"PYTHONPATH": str(tmp_path)}
    run = [*python, "-m", "specprof", "run", "--engine", "replay", "--prompts", "-", "--baseline", "--out", "run"]
    for command in ([*python, "-c", contract + "assert_engine_contract(ReplayEngine)"], run):
        process = subprocess.run(
            command, cwd=tmp_path, env=environment, input='{"prompt": "hi"}\n', capture_output=True, text=True
        )
        assert process.returncode == 0, process.stderr
