"""Times of a request, from the chunks that `generate` streams."""

from time import perf_counter_ns, time
from typing import Any


class Stopwatch:
    """A streamer for both kinds of arm, so that both pay for it. The first chunk that it is given is the prompt."""

    def __init__(self) -> None:
        self._started_at, self._start = time(), perf_counter_ns()
        self._first = self._last = self._chunks = self._first_tokens = 0

    def put(self, tokens: Any) -> None:
        self._last = perf_counter_ns()
        if self._chunks == 1:
            self._first, self._first_tokens = self._last, tokens.numel()
        self._chunks += 1

    def end(self) -> None:
        """The last token has passed."""

    def read(self) -> dict[str, Any]:
        return {
            "started_at": self._started_at,
            "first_chunk_tokens": self._first_tokens,
            "ttft_us": (self._first - self._start) // 1000,
            "latency_us": (self._last - self._start) // 1000,
        }
