"""Costs from a file in a run: only where they were measured on the same models, in the same way."""

import logging
from collections.abc import Iterator, Mapping
from typing import Any

from specprof.calibrate.file import CostFile
from specprof.capture.machine import load_1m
from specprof.errors import UsageError
from specprof.records import drafter

MUST_AGREE = ("engine", "engine_version", "dtype", "device", "gpu", "threads")
MUCH_LOAD = 1.0  # processes more or fewer than at the calibration

log = logging.getLogger("specprof")


def adopt(file: CostFile, info: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The file's occasions under the arm ids of the run that `info` describes (arms, machine, and what the engine says
    of itself). Raises `UsageError` that names every difference; another machine or load is a warning."""
    differences = [*_differences(file.content, info), *_unpriced(file.content, info)]
    if differences:
        raise UsageError(
            f"the costs of `{file.path}` are not those of this run: {'; '.join(differences)}",
            "measure them with `specprof calibrate` and this run's options, or leave `--costs` out",
        )
    _warn(file, info)
    return [
        {
            **item,
            "when": "file",
            "file": str(file.path),
            "sha256": file.sha256,
            "samples": list(_samples(item, file, info)),
        }
        for item in file.content["occasions"]
    ]


def _differences(costs: Mapping[str, Any], info: Mapping[str, Any]) -> Iterator[str]:
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


def _unpriced(costs: Mapping[str, Any], info: Mapping[str, Any]) -> Iterator[str]:
    known = {drafter(arm) for arm in costs["arms"].values()}
    for id, arm in info["arms"].items():
        if arm["method"] != "none" and drafter(arm) not in known:
            yield f"the drafter of arm `{id}` ({arm['method']}) was not measured"


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
    """With the arm that has the same drafter in this run; what belongs to no arm of it is left out."""
    ids = {drafter(arm): id for id, arm in reversed(info["arms"].items())}
    for sample in item["samples"]:
        arm = sample.get("arm")
        if arm is None:
            yield dict(sample)
        elif (id := ids.get(drafter(file.content["arms"].get(arm, {})))) is not None:
            yield {**sample, "arm": id}
