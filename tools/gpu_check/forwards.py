"""α and v(w) from forward passes alone, per batch and context."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import signature
from time import monotonic
from typing import Any

import numpy as np
import torch

from gpu_check.cache import bytes_of, fixed_cache
from gpu_check.outcome import Finding, Table
from gpu_check.stand import Stand
from specprof.report.cells import interval_of

WIDTHS, BATCHES, CONTEXTS, REPEATS = (0, 1, 2, 4, 8, 16), (1, 4, 16, 64), (512, 4096, 16_384), 9
TINY_WIDTHS, TINY_BATCHES, TINY_CONTEXTS, TINY_REPEATS = (0, 1, 4), (1, 2), (16, 48), 3
FASTEST_TB_S = 12.0  # no GPU of these days reads its memory that fast
ALONE = (
    "Forward passes alone, in eager mode, over a cache allocated before: no loop, no sampling, no cache that grows. "
    "They price a served round too cheaply. For a decision use `specprof calibrate`, which times rounds in the "
    "engine's own loop."
)
Kind = tuple[str, int]  # target or draft, width
Times = Mapping[Kind, np.ndarray]


@dataclass(frozen=True)
class Cell:
    """`times_ms`: one entry per repeat."""

    batch: int
    context: int
    times_ms: Times

    def relative(self, kind: Kind) -> tuple[float, float, float]:
        """Median and quartiles over repeats of a time in plain steps of the same repeat."""
        return _spread(self.times_ms[kind] / self.times_ms["target", 0])

    def row(self) -> tuple[str, ...]:
        step = _spread(self.times_ms["target", 0])
        ratios = [self.relative(kind) for kind in [("draft", 0), *self.wider()]]
        return str(self.batch), str(self.context), interval_of(*step), *(interval_of(*ratio, 3) for ratio in ratios)

    def wider(self) -> list[Kind]:
        return [kind for kind in self.times_ms if kind[0] == "target" and kind[1] > 0]

    def to_dict(self) -> dict[str, Any]:
        times = [{"model": m, "width": w, "ms": ms.tolist()} for (m, w), ms in self.times_ms.items()]
        return {"batch": self.batch, "context": self.context, "times": times}


def check(stand: Stand) -> Finding:
    left_out: list[str] = []
    cells = list(_cells(stand, left_out))
    if not cells:
        return Finding(seen="nothing", faults=("no cell was measured",), left_out=tuple(left_out))
    first = cells[0]
    widths = [width for _, width in first.wider()]
    headings = ("batch", "context", "t₁ ms", "α", *(f"v({width})" for width in widths))
    step_ms, speed = float(np.median(first.times_ms["target", 0])), _terabytes_per_second(stand, first)
    return Finding(
        seen=f"{len(cells)} cells; t₁ = {step_ms:.2f} ms at batch 1 after {first.context} tokens, {speed:.2f} TB/s",
        faults=(f"weights read at {speed:.1f} TB/s: the clock misses work",) if speed > FASTEST_TB_S else (),
        tables=(Table(headings, [cell.row() for cell in cells]),),
        notes=(ALONE, "Median [quartiles] over interleaved repeats; α and v(w) in plain steps of the same repeat."),
        left_out=tuple(left_out),
        figures={"cells": [cell.to_dict() for cell in cells]},
    )


def _cells(stand: Stand, left_out: list[str]) -> Iterator[Cell]:
    last = 0.0
    for context in TINY_CONTEXTS if stand.tiny else CONTEXTS:
        for batch in TINY_BATCHES if stand.tiny else BATCHES:
            if reason := _no_room(stand, batch, context, 3 * last):
                left_out.append(f"batch {batch}, context {context}: {reason}")
                continue
            begun = monotonic()
            try:
                yield _measure(stand, batch, context)
            except torch.cuda.OutOfMemoryError as error:
                left_out.append(f"batch {batch}, context {context}: {str(error).partition('.')[0]}")
            last = monotonic() - begun


def _no_room(stand: Stand, batch: int, context: int, seconds: float) -> str | None:
    if not stand.budget.fits(seconds):
        return f"{stand.budget.left:.0f} s were left"
    if stand.device.type == "cuda":
        torch.cuda.empty_cache()
        needed = sum(bytes_of(model, batch, context) for model in (stand.pair.target, stand.pair.draft))
        free, _ = torch.cuda.mem_get_info(stand.device)
        if needed * 1.2 > free:  # a masked pass also repeats the keys and values of one layer per query head
            return f"caches of {needed / 1e9:.0f} GB, {free / 1e9:.0f} GB are free"
    return None


@torch.inference_mode()  # type: ignore[untyped-decorator]
def _measure(stand: Stand, batch: int, context: int) -> Cell:
    widths = TINY_WIDTHS if stand.tiny else WIDTHS
    models = {"target": stand.pair.target, "draft": stand.pair.draft}
    caches = {name: fixed_cache(model, batch, context, max(widths) + 1) for name, model in models.items()}
    kinds = [*(("target", width) for width in widths), ("draft", 0)]
    inputs = {kind: _tokens(stand, batch, 1 + kind[1]) for kind in kinds}
    times: dict[Kind, list[float]] = {kind: [] for kind in kinds}
    rng = random.Random(0)
    for _ in range(1 + (TINY_REPEATS if stand.tiny else REPEATS)):
        for kind in rng.sample(kinds, len(kinds)):
            times[kind].append(_time_ms(stand, models[kind[0]], inputs[kind], caches[kind[0]]))
    return Cell(batch, context, {kind: np.array(ms[1:]) for kind, ms in times.items()})  # the first warms up


def _tokens(stand: Stand, batch: int, count: int) -> torch.Tensor:
    return torch.randint(stand.pair.target.config.vocab_size, (batch, count), device=stand.device)


def _time_ms(stand: Stand, model: Any, ids: torch.Tensor, cache: Any) -> float:
    """From an idle device to the end of the pass."""
    name = "cache" if "cache" in signature(model.forward).parameters else "past_key_values"
    clock = stand.clock
    start = clock.mark()
    model(input_ids=ids, use_cache=True, **{name: cache})
    end = clock.mark()
    clock.settle(end)
    return clock.between(start, end) / 1e6


def _spread(values: np.ndarray) -> tuple[float, float, float]:
    low, median, high = np.quantile(values, (0.25, 0.5, 0.75))
    return float(median), float(low), float(high)


def _terabytes_per_second(stand: Stand, cell: Cell) -> float:
    """Weights that one pass must read, over the fastest plain step. Of the embedding it reads a row."""
    target = stand.pair.target
    weights = sum(weight.numel() * weight.element_size() for weight in target.parameters())
    table = target.get_input_embeddings().weight
    return float((weights - table.numel() * table.element_size()) / cell.times_ms["target", 0].min() / 1e9)
