"""Command lines run in this process, in a folder of their own, and a small run to judge."""

import json
from dataclasses import dataclass

import pytest

from specprof.cli import invoke


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*argv):
        capsys.readouterr()
        code = invoke([str(word) for word in argv])
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture
def rounds(tmp_path):
    """24 requests of 2 rounds, k = 4, 3 and 1 accepted: a = 2, tokens per round 3."""
    lines = [
        {
            "request_id": f"r{i}",
            "task": "code",
            "prompt_tokens": 9,
            "response_tokens": 6,
            "drafted": [4, 4],
            "accepted": [3, 1],
        }
        for i in range(24)
    ]
    file = tmp_path / "rounds.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


@pytest.fixture
def imported(cli, rounds):
    assert cli("import", rounds, "--out", "run").code == 0
    return "run"
