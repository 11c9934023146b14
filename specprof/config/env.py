"""Settings from the environment: `SPECPROF_<SECTION>_<KEY>`. In a list, `;` stands between the items."""

from collections.abc import Iterator, Mapping

from specprof.config.keys import KEYS, Kind, expected, fits
from specprof.errors import UsageError, did_you_mean

PREFIX = "SPECPROF_"
DEBUG = "SPECPROF_DEBUG"
VARIABLES = {
    f"{PREFIX}{section}_{key}".upper(): (section, key, kind)
    for section, keys in KEYS.items()
    for key, kind in keys.items()
}
_BOOLS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def settings(env: Mapping[str, str]) -> Iterator[tuple[str, str, object]]:
    """(section, key, value) of every variable of ours."""
    for name, text in env.items():
        if not name.startswith(PREFIX) or name == DEBUG:
            continue
        if name not in VARIABLES:
            hint = did_you_mean(name, [*VARIABLES, DEBUG], f"variables are called `{PREFIX}<SECTION>_<KEY>`")
            raise UsageError(f"environment variable `{name}` is unknown", hint)
        section, key, kind = VARIABLES[name]
        yield section, key, _value(name, text, kind)


def _value(name: str, text: str, kind: Kind) -> object:
    try:
        value = _converted(text.strip(), kind)
    except (ValueError, KeyError):
        value = None
    if value is None or not fits(value, kind):
        raise UsageError(f"environment variable `{name}` is `{text}`", f"it must be {expected(kind)}")
    return value


def _converted(text: str, kind: Kind) -> object:
    match kind:
        case "int":
            return int(text)
        case "float":
            return float(text)
        case "bool":
            return _BOOLS[text.lower()]
        case "list":
            return [item.strip() for item in text.split(";") if item.strip()]
        case _:
            return text
