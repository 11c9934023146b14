"""Two clocks with one interface: marks at the edges of a round, nanoseconds between two marks."""

from time import perf_counter_ns
from typing import Any, NamedTuple, Protocol


class Clock(Protocol):
    live: bool  # whether marks can be read at once; if not, only after `settle`

    def mark(self) -> Any:
        """Note the present without waiting for it."""

    def settle(self, mark: Any) -> None:
        """Wait until `mark` and everything before it has happened."""

    def between(self, start: Any, end: Any) -> int:
        """Nanoseconds from `start` to `end`."""


class HostClock:
    live = True

    def mark(self) -> int:
        return perf_counter_ns()

    def settle(self, mark: int) -> None:
        """The host's present is always there."""

    def between(self, start: int, end: int) -> int:
        return end - start


class CudaClock:
    """Events in the stream: the GPU notes when it passes them, and the host never waits inside a request."""

    live = False

    def __init__(self, device: Any) -> None:
        self._device = device

    def mark(self) -> Any:
        import torch

        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self._device))
        return event

    def settle(self, mark: Any) -> None:
        mark.synchronize()

    def between(self, start: Any, end: Any) -> int:
        return int(start.elapsed_time(end) * 1_000_000)


class Edges(NamedTuple):
    """Marks of one round. The verification starts where the draft ends, and ends at the boundary."""

    draft: Any
    verify: Any
    boundary: Any


class Times(NamedTuple):
    draft_us: int
    verify_us: int
    step_us: int


def times(clock: Clock, previous: Edges, edges: Edges) -> Times:
    """The step runs from boundary to boundary. It is the sum of its parts, so that draft + verify ≤ step whatever a
    clock rounds."""
    gap = clock.between(previous.boundary, edges.draft)
    draft = clock.between(edges.draft, edges.verify)
    verify = clock.between(edges.verify, edges.boundary)
    return Times(draft // 1000, verify // 1000, (gap + draft + verify) // 1000)
