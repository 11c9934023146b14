import re

import pytest

from specprof.config.file import find
from specprof.config.tables import sections, tasks
from specprof.errors import UsageError


def settings(folder, text):
    (folder / "specprof.toml").write_text(text, encoding="utf-8")
    return find(folder)


def test_known_settings_are_taken_as_they_are(tmp_path):
    run = 'model = "tiny"\nk = 4\nuntil_n = 500\ntop_p = 1\nprompts = ["a", "b"]\nbaseline = true'
    text = f'[run]\n{run}\n[gate]\ninconclusive = "3"'
    assert sections(settings(tmp_path, text)) == {
        "run": {"model": "tiny", "k": 4, "until_n": 500, "top_p": 1, "prompts": ["a", "b"], "baseline": True},
        "gate": {"inconclusive": "3"},
    }


def test_a_sweep_is_a_number_or_several_in_a_text(tmp_path):
    for text, k in (("4", 4), ('"2,4, 6"', "2,4, 6")):
        assert sections(settings(tmp_path, f"[run]\nk = {text}\n")) == {"run": {"k": k}}


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("\n[runs]\n", ":2` has an unknown section `runs`", "did you mean `run`?"),
        ("model = 'x'\n", ":1` has an unknown section `model`", "sections are run, report, "),
        ("[run]\nmax_new_token = 3\n", ":2` has an unknown key `run.max_new_token`", "did you mean `max_new_tokens`?"),
        ("[report]\nmodel = 'x'\n", ":2` has an unknown key `report.model`", "keys are alpha, beta, alpha_round"),
        ("run = 3\n", ":1` sets `run` to 3", "`run` is a section: write [run]"),
        ("[run]\nseed = '4'\n", ":2` sets `run.seed` to '4'", "write a whole number"),
        ("[run]\nk = 'few'\n", ":2` sets `run.k` to 'few'", 'write a whole number, or several as "2,4,6"'),
        ("[run]\nk = true\n", ":2` sets `run.k` to True", "write a whole number"),
        ("[run]\nk = 4.0\n", ":2` sets `run.k` to 4.0", "write a whole number"),
        ("[run]\ntemperature = 'hot'\n", ":2` sets `run.temperature` to 'hot'", "write a number"),
        ("[report]\nalpha = nan\n", ":2` sets `report.alpha` to nan", "write a number"),
        ("[run]\nbaseline = 1\n", ":2` sets `run.baseline` to 1", "write true or false"),
        ("[run]\nmodel = ''\n", ":2` sets `run.model` to ''", "write text that is not empty"),
        ("[run]\nprompts = 'a'\n", ":2` sets `run.prompts` to 'a'", "write a list of texts"),
        ("[gate]\nrules = [1]\n", ":2` sets `gate.rules` to [1]", "write a list of texts"),
        ("[gate]\ninconclusive = 3\n", ":2` sets `gate.inconclusive` to 3", 'write "fail" or "warn" or "3"'),
    ],
)
def test_what_is_unknown_or_of_a_wrong_kind_is_refused_with_its_place(tmp_path, text, problem, hint):
    with pytest.raises(UsageError) as caught:
        sections(settings(tmp_path, text))
    assert str(caught.value).startswith(f"`{tmp_path / 'specprof.toml'}{problem}")
    assert (caught.value.hint or "").startswith(hint)


def test_our_table_in_pyproject_must_be_a_table(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool]\nspecprof = 3\n")
    with pytest.raises(UsageError, match="sets `specprof` to 3"):
        sections(find(tmp_path))


def test_task_rules_keep_their_order(tmp_path):
    text = "[[tasks]]\npattern = '\\bdef '\ntask = 'code'\n[[tasks]]\npattern = '요약'\ntask = 'summary'\n"
    assert list(tasks(settings(tmp_path, text))) == [(re.compile(r"\bdef "), "code"), (re.compile("요약"), "summary")]
    assert list(tasks(settings(tmp_path, ""))) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tasks = 3\n", ":1` has `tasks` that are not a list of tables"),
        ("[tasks]\npattern = 'a'\ntask = 'b'\n", ":1` has `tasks` that are not a list of tables"),
        ("[[tasks]]\npattern = 'a'\n", ":1` has a task rule without `task`"),
        ("[[tasks]]\npattern = 'a'\ntask = 3\n", ":1` has a task rule without `task`"),
        ("[[tasks]]\npatern = 'a'\n", ":2` has an unknown key `tasks.patern`"),
        (
            "[[tasks]]\npattern = 'a'\ntask = 'a'\n[[tasks]]\npattern = '('\ntask = 'b'\n",
            ":5` has a broken pattern `(`: missing ), unterminated subpattern at position 0",
        ),
    ],
)
def test_a_broken_task_rule_is_refused_with_its_place(tmp_path, text, problem):
    file = settings(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        list(tasks(file))
    assert str(caught.value) == f"`{tmp_path / 'specprof.toml'}{problem}"
