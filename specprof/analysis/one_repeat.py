"""One repeat of a calibration: its times in plain steps of its own, and the costs that it gives by itself."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from specprof.analysis.cost import Costs
from specprof.records import CostSample


@dataclass(frozen=True, slots=True)
class Repeat:
    """`step_us` is t₁, the unit of all else. `rounds` goes by width, `drafts` are pairs of tokens proposed and time."""

    step_us: float
    rounds: Mapping[int, float]
    drafts: tuple[tuple[int, float], ...]
    setup: float | None

    @classmethod
    def of(cls, samples: Sequence[CostSample]) -> Self | None:
        """None for a repeat that was cut short: it lacks the plain step, the round that verifies nothing, or drafts."""
        plain = [sample.us for sample in samples if sample.kind == "plain"]
        step_us = middle(plain) if plain else 0.0
        if step_us <= 0:
            return None
        rounds, drafts, setups = (_steps(samples, kind, step_us) for kind in ("round", "draft", "setup"))
        if 0 not in {width for width, _ in rounds} or not drafts:
            return None
        by_width = {width: middle(time for other, time in rounds if other == width) for width, _ in sorted(rounds)}
        return cls(step_us, by_width, tuple(drafts), middle(time for _, time in setups) if setups else None)

    @property
    def lengths(self) -> int:
        """How many different numbers of tokens were drafted."""
        return len({proposed for proposed, _ in self.drafts})

    def costs(self, per_token: bool, **place: Any) -> Costs:
        """φ is what a round that verifies nothing takes beyond a plain step, and v(w) counts from that round on. Not
        `per_token`: one length was drafted, all of its cost is α₀, and α stays unknown."""
        idle = self.rounds[0]
        alpha, alpha_round = _line(self.drafts) if per_token else (0.0, middle(time for _, time in self.drafts))
        widths = tuple((width, 1 + time - idle) for width, time in self.rounds.items() if width)
        return Costs(
            alpha=alpha,
            beta=(widths[-1][1] - 1) / widths[-1][0] if widths else 0.0,
            alpha_round=alpha_round,
            phi=idle - 1,
            per_request=self.setup,
            widths=widths,
            longest=None if per_token else max(proposed for proposed, _ in self.drafts),
            step_us=self.step_us,
            **place,
        )


def middle(values: Iterable[float]) -> float:
    return float(np.median(list(values)))


def _steps(samples: Sequence[CostSample], kind: str, step_us: float) -> list[tuple[int, float]]:
    return [(sample.width, sample.us / step_us) for sample in samples if sample.kind == kind]


def _line(drafts: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """(α, α₀) by least squares."""
    proposed, time = np.array(drafts).T
    away = proposed - proposed.mean()
    alpha = float(np.sum(away * time) / np.sum(np.square(away)))
    return alpha, float(time.mean() - alpha * proposed.mean())
