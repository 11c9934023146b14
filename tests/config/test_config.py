import re

import click
import pytest

from specprof.config import load_config
from specprof.errors import UsageError


def test_a_folder_without_settings_gives_no_defaults(tmp_path):
    config = load_config(tmp_path, {})
    assert (config.rules, config.tasks) == ((), ())
    assert not any(config.default_map().values())


def test_a_variable_overrides_the_file_and_leaves_its_other_keys(tmp_path):
    (tmp_path / "specprof.toml").write_text("[run]\nk = 2\nseed = 5\n")
    config = load_config(tmp_path, {"SPECPROF_RUN_K": "3", "SPECPROF_GATE_ALPHA": "0.1"})
    defaults = {section: values for section, values in config.default_map().items() if values}
    assert defaults == {"run": {"k": ["3"], "seed": 5}, "gate": {"alpha": 0.1}}


@pytest.mark.parametrize(("arguments", "k"), [([], ("3",)), (["--k", "4"], ("4",))])
def test_a_flag_overrides_the_variable_and_the_file(tmp_path, arguments, k):
    @click.group()
    def specprof():
        pass

    @specprof.command()
    @click.option("--k", multiple=True)
    def run(k):
        return k

    (tmp_path / "specprof.toml").write_text("[run]\nk = 2\n")
    defaults = load_config(tmp_path, {"SPECPROF_RUN_K": "3"}).default_map()
    assert specprof.main(["run", *arguments], standalone_mode=False, default_map=defaults) == k


def test_rules_and_tasks_are_given_apart_from_the_defaults(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        "[tool.specprof.gate]\nrules = ['mean_accepted > 1']\nallow_partial = true\n"
        "[[tool.specprof.tasks]]\npattern = 'x'\ntask = 'code'\n"
    )
    config = load_config(tmp_path, {})
    assert config.rules == ("mean_accepted > 1",)
    assert config.tasks == ((re.compile("x"), "code"),)
    assert config.default_map()["gate"] == {"allow_partial": True}


def test_unknown_settings_and_variables_are_refused(tmp_path):
    with pytest.raises(UsageError, match="SPECPROF_RUN_KK"):
        load_config(tmp_path, {"SPECPROF_RUN_KK": "3"})
    (tmp_path / "specprof.toml").write_text("[run]\nkk = 2\n")
    with pytest.raises(UsageError, match=re.escape(f"`{tmp_path / 'specprof.toml'}:2` has an unknown key `run.kk`")):
        load_config(tmp_path, {})
