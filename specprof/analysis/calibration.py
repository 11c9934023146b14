"""From the raw timings of a calibration to costs: medians over repeats, each in plain steps of its own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specprof.analysis.cost import Costs
from specprof.analysis.one_repeat import Repeat, middle
from specprof.records import CostSample, drafter

Arms = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Occasions as `run.json` or a file of costs holds them, and the arms that their samples name."""

    occasions: Sequence[Mapping[str, Any]]
    arms: Arms


def samples_of(occasions: Iterable[Mapping[str, Any]]) -> list[CostSample]:
    """The samples of all occasions. Repeats of different occasions are different repeats: they are numbered anew."""
    found: list[CostSample] = []
    numbers: dict[tuple[int, int], int] = {}
    for index, occasion in enumerate(occasions):
        for sample in occasion["samples"]:
            repeat = numbers.setdefault((index, sample["repeat"]), len(numbers))
            found.append(CostSample(**{**sample, "repeat": repeat}))
    return found


def costs_from(samples: Iterable[CostSample], arm: Mapping[str, Any], arms: Arms) -> tuple[Costs, ...]:
    """What a round of `arm` costs at each measured context and batch, from short to long. Drafts timed under any of
    `arms` with the same drafter count. A regime without one whole repeat is left out."""
    same = {name for name, other in arms.items() if drafter(other) == drafter(arm)}
    regimes: dict[tuple[int, int], dict[int, list[CostSample]]] = {}
    for sample in samples:
        if sample.arm is None or sample.arm in same:
            repeats = regimes.setdefault((sample.context, sample.batch), {})
            repeats.setdefault(sample.repeat, []).append(sample)
    found = (_regime(*place, [repeats for _, repeats in sorted(regimes[place].items())]) for place in sorted(regimes))
    return tuple(costs for costs in found if costs is not None)


def _regime(context: int, batch: int, repeats: Sequence[Sequence[CostSample]]) -> Costs | None:
    """A repeat that lacks a width which another one has was cut short: it would shift the medians."""
    known = [repeat for repeat in map(Repeat.of, repeats) if repeat is not None]
    widths = {width for repeat in known for width in repeat.rounds}
    whole = [repeat for repeat in known if repeat.rounds.keys() == widths]
    if not whole:
        return None
    per_token = all(repeat.lengths > 1 for repeat in whole)
    name = f"context {context}" if batch == 1 else f"context {context}, batch {batch}"
    place = {"regime": name, "context": context, "batch": batch, "source": "measured"}
    return _median([repeat.costs(per_token, **place) for repeat in whole], place)


def _median(repeats: Sequence[Costs], place: Mapping[str, Any]) -> Costs:
    """Each cost by itself."""
    setups = [costs.per_request for costs in repeats if costs.per_request is not None]
    tables = [dict(costs.widths) for costs in repeats]
    return Costs(
        alpha=middle(costs.alpha for costs in repeats),
        beta=middle(costs.beta for costs in repeats),
        alpha_round=middle(costs.alpha_round for costs in repeats),
        phi=middle(costs.phi for costs in repeats),
        step_us=middle(costs.step_us or 0.0 for costs in repeats),
        per_request=middle(setups) if setups else None,
        widths=tuple((width, middle(table[width] for table in tables)) for width in tables[0]),
        longest=max((costs.longest for costs in repeats if costs.longest is not None), default=None),
        repeats=tuple(repeats),
        **place,
    )
