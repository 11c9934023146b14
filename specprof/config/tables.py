"""The tables of a settings file, checked against the known keys."""

import re
from collections.abc import Iterator
from typing import Any

from specprof.config.file import SettingsFile
from specprof.config.keys import KEYS, TASK_KEYS, expected, fits
from specprof.errors import UsageError, did_you_mean

TaskRule = tuple[re.Pattern[str], str]
"""(pattern searched in a prompt's text, task)."""

_TASKS = "tasks"
_TASKS_HINT = 'write [[tasks]] with pattern = "regular expression" and task = "name"'


def sections(file: SettingsFile) -> dict[str, dict[str, object]]:
    """Section → key → value, every one of them known and of the right kind."""
    if not isinstance(file.table, dict):
        raise UsageError(f"`{file.place()}` sets `specprof` to {file.table!r}", "write [tool.specprof.run]")
    for name in file.table:
        if name not in KEYS and name != _TASKS:
            hint = did_you_mean(name, [*KEYS, _TASKS], f"sections are {', '.join(KEYS)} and {_TASKS}")
            raise UsageError(f"`{file.place(name)}` has an unknown section `{name}`", hint)
    return {name: _section(file, name, table) for name, table in file.table.items() if name in KEYS}


def _section(file: SettingsFile, name: str, table: Any) -> dict[str, object]:
    if not isinstance(table, dict):
        raise UsageError(f"`{file.place(name)}` sets `{name}` to {table!r}", f"`{name}` is a section: write [{name}]")
    for key, value in table.items():
        if key not in KEYS[name]:
            hint = did_you_mean(key, KEYS[name], f"keys are {', '.join(KEYS[name])}")
            raise UsageError(f"`{file.place(name, key)}` has an unknown key `{name}.{key}`", hint)
        if not fits(value, kind := KEYS[name][key]):
            raise UsageError(f"`{file.place(name, key)}` sets `{name}.{key}` to {value!r}", f"write {expected(kind)}")
    return table


def tasks(file: SettingsFile) -> Iterator[TaskRule]:
    """The rules of `[[tasks]]` in their order."""
    rules = file.table.get(_TASKS, [])
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise UsageError(f"`{file.place(_TASKS)}` has `tasks` that are not a list of tables", _TASKS_HINT)
    for nth, rule in enumerate(rules):
        yield _task(file, nth, rule)


def _task(file: SettingsFile, nth: int, rule: dict[str, Any]) -> TaskRule:
    for key in rule:
        if key not in TASK_KEYS:
            problem = f"`{file.place(_TASKS, key, nth=nth)}` has an unknown key `tasks.{key}`"
            raise UsageError(problem, did_you_mean(key, TASK_KEYS, _TASKS_HINT))
    for key in TASK_KEYS:
        if not fits(rule.get(key), "str"):
            raise UsageError(f"`{file.place(_TASKS, nth=nth)}` has a task rule without `{key}`", _TASKS_HINT)
    try:
        return re.compile(rule["pattern"]), rule["task"]
    except re.error as error:
        problem = f"`{file.place(_TASKS, 'pattern', nth=nth)}` has a broken pattern `{rule['pattern']}`: {error}"
        raise UsageError(problem, "text in single quotes keeps its backslashes: pattern = '\\d+'") from error
