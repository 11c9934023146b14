"""Costs from a file in a run: only where they were measured on the same models, in the same way."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from specprof.calibrate.file import CostFile
from specprof.calibrate.reach import alike, same, unpriced
from specprof.capture.machine import load_1m
from specprof.engines import BUILT_IN
from specprof.errors import UsageError
from specprof.records import drafter

MUST_AGREE = ("engine", "engine_version", "dtype", "device", "gpu", "threads")
MUCH_LOAD = 1.0  # processes more or fewer than at the calibration

log = logging.getLogger("specprof")


def adopt(file: CostFile, info: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The file's occasions under the arm ids of the run that `info` describes (arms, machine, and what the engine says
    of itself). Raises `UsageError` that names every difference; another machine or load is a warning."""
    _refuse(file, differences(file, info))
    _warn(file, info)
    return [
        {
            "when": "file",
            "at": item.get("at"),
            "load_1m": item.get("load_1m"),
            "file": str(file.path),
            "sha256": file.sha256,
            "samples": list(_samples(item, file, info)),
        }
        for item in file.content["occasions"]
    ]


def differences(file: CostFile, info: Mapping[str, Any]) -> list[str]:
    """In what the file's costs are not those of the run that `info` describes, in words."""
    return [*_set_up(file.content, info), *unpriced(file.content, info, same)]


def refuse_early(file: CostFile, engine_name: str, arms: Mapping[str, Any]) -> None:
    """Raise `UsageError` for what differs whatever the weights, which are not loaded yet."""
    was = file.content.get("engine")
    other = was != engine_name and {str(was), engine_name} <= BUILT_IN.keys()
    engine = [f"`engine` was {was}, is {engine_name}"] if other else []
    _refuse(file, [*engine, *unpriced(file.content, {"arms": arms}, alike)])


def _refuse(file: CostFile, found: Sequence[str]) -> None:
    if found:
        raise UsageError(
            f"the costs of `{file.path}` are not those of this run: {'; '.join(found)}",
            "measure them with `specprof calibrate` and this run's options, or leave `--costs` out",
        )


def _set_up(costs: Mapping[str, Any], info: Mapping[str, Any]) -> Iterator[str]:
    for key in MUST_AGREE:
        if costs.get(key) != info.get(key):
            yield f"`{key}` was {costs.get(key)}, is {info.get(key)}"
    if _target(costs) != _target(info):
        yield f"`target` was {costs.get('target')}, is {info.get('target')} (other weights)"
    ours, theirs = (document.get("weights") or {} for document in (info, costs))
    for name in ours.keys() & theirs.keys() - {info.get("target")}:
        if ours[name] != theirs[name]:
            yield f"the weights of `{name}` changed"


def _target(document: Mapping[str, Any]) -> Any:
    """A model is its weights, wherever they lie; its name where no weights are recorded."""
    name = document.get("target")
    return (document.get("weights") or {}).get(name) or name


def _warn(file: CostFile, info: Mapping[str, Any]) -> None:
    was, now = ((document.get("machine") or {}).get("cpu") for document in (file.content, info))
    if was != now:
        log.warning("the costs of `%s` were measured on another machine: `cpu` was %s, is %s", file.path, was, now)
    load = load_1m()
    for item in file.content["occasions"]:
        before = item.get("load_1m")
        if load is not None and before is not None and abs(load - before) > MUCH_LOAD:
            log.warning("the costs of `%s` were measured at load %.1f, now it is %.1f", file.path, before, load)


def _samples(item: Mapping[str, Any], file: CostFile, info: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """With the arm that has the same drafter in this run, the first of each draft's path; what belongs to no arm of it
    is left out."""
    first = {drafter(arm): id for id, arm in reversed(info["arms"].items())}
    arms = {id: info["arms"][id] for id in reversed(first.values())}
    costs = file.content
    ids = {name: [id for id, own in arms.items() if same(own, info, arm, costs)] for name, arm in costs["arms"].items()}
    for sample in item["samples"]:
        if sample.get("arm") is None:
            yield dict(sample)
        for id in ids.get(sample.get("arm"), ()):
            yield {**sample, "arm": id}
