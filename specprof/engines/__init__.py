"""The registry of engines: a name and where its class lives; nothing is imported before it is asked for.

Another package adds its own with the entry-point group `specprof.engines`.
"""

from importlib import import_module
from importlib.metadata import entry_points
from typing import cast

from specprof.engines.base import Engine
from specprof.errors import EnvironmentError_, UsageError, did_you_mean

GROUP = "specprof.engines"
BUILT_IN = {
    "huggingface": "specprof.engines.huggingface:HuggingFaceEngine",
    "simulated-prefix": "specprof.engines.simulated:PrefixEngine",
    "simulated-block": "specprof.engines.simulated:BlockEngine",
}


def names() -> list[str]:
    """Every engine that `create` knows: the built-in ones, then those of other packages."""
    return [*BUILT_IN, *(name for name in sorted(entry_points(group=GROUP).names) if name not in BUILT_IN)]


def create(name: str) -> Engine:
    """A new engine by its registered name. Raises `UsageError` for an unknown one."""
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        return cast(Engine, getattr(import_module(module), attribute)())
    for entry in entry_points(group=GROUP, name=name):
        try:
            return cast(Engine, entry.load()())
        except (ImportError, AttributeError) as error:
            package = entry.dist.name if entry.dist else "an unknown package"
            raise EnvironmentError_(
                f"engine `{name}` of package `{package}` cannot be loaded from `{entry.value}`: {error}",
                "install what it needs, or correct its entry point",
            ) from error
    raise UsageError(f"unknown engine `{name}`", did_you_mean(name, names(), f"known: {', '.join(names())}"))
