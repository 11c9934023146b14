"""Settings from `specprof.toml`, else `[tool.specprof]` of pyproject.toml, overridden by the environment.

Flags override both: the settings reach the command line as defaults.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from specprof.config import env as environment
from specprof.config.file import find
from specprof.config.keys import KEYS
from specprof.config.tables import TaskRule, sections, tasks

__all__ = ["Config", "load_config"]


@dataclass(frozen=True, slots=True)
class Config:
    """`values` maps section → key → value; `tasks` holds (pattern, task), to be tried in order."""

    values: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    tasks: tuple[TaskRule, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        """The gate's rules."""
        return tuple(cast(list[str], self.values.get("gate", {}).get("rules", [])))

    def default_map(self) -> dict[str, dict[str, object]]:
        """Defaults per command, as click takes them; `--k` may be repeated. The gate's rules are left out: `rules` has
        them."""
        return {
            section: {key: [str(value)] if key == "k" else value for key, value in table.items() if key != "rules"}
            for section, table in self.values.items()
        }


def load_config(folder: Path, env: Mapping[str, str]) -> Config:
    """The settings of a folder and an environment; an unknown one or a wrong kind is a `UsageError` with its place."""
    values: dict[str, dict[str, object]] = {section: {} for section in KEYS}
    file = find(folder)
    if file:
        values |= sections(file)
    for section, key, value in environment.settings(env):
        values[section][key] = value
    return Config(values, tuple(tasks(file)) if file else ())
