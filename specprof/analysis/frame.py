"""Requests as arrays: identity and times, integer sums over their rounds, and the rounds end to end."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Self, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from specprof.analysis.columns import Bools, Words, clusters, codes, equals, integers, lookups, numbers, words
from specprof.analysis.intervals import Floats, Ints
from specprof.analysis.rounds import Rounds, Sums
from specprof.analysis.times import Times

T = TypeVar("T")

COLUMNS = (
    *("request_id", "prompt_id", "conversation_id", "sample", "arm", "phase", "task", "labels", "prompt_tokens"),
    *("response_tokens", "first_tokens", "first_chunk_tokens", "finish_reason", "complete", "ttft_us", "latency_us"),
    *("excluded", "lossy", "proposed", "drafted", "width", "accepted", "emitted", "drafter_ran"),
    *("draft_us", "verify_us", "step_us"),
)


@dataclass(frozen=True, slots=True)
class Requests:
    """One entry per request. Times and `first_chunk_tokens` are NaN where the engine could not observe them."""

    arm: Words
    task: Words
    prompt: Ints
    cluster: Ints
    sample: Ints
    prompt_tokens: Ints
    response_tokens: Ints
    first_tokens: Ints
    first_chunk_tokens: Floats
    ttft_us: Floats
    latency_us: Floats
    finish_reason: Words
    complete: Bools
    lossy: Bools

    @classmethod
    def of(cls, table: pa.Table) -> Self:
        return cls(
            arm=words(table, "arm"),
            task=words(table, "task"),
            prompt=codes(table["prompt_id"]),
            cluster=clusters(table),
            sample=integers(table, "sample"),
            prompt_tokens=integers(table, "prompt_tokens"),
            response_tokens=integers(table, "response_tokens"),
            first_tokens=integers(table, "first_tokens"),
            first_chunk_tokens=numbers(table, "first_chunk_tokens"),
            ttft_us=numbers(table, "ttft_us"),
            latency_us=numbers(table, "latency_us"),
            finish_reason=words(table, "finish_reason"),
            complete=np.asarray(table["complete"].to_numpy(), dtype=np.bool_),
            lossy=numbers(table, "lossy") > 0,
        )

    def take(self, index: Ints | Bools) -> Self:
        """The requests at `index`, or where it holds."""
        return _take(self, index)


@dataclass(frozen=True, slots=True)
class Frame:
    """`labels` and `excluded` hold one array per name, with one entry per request (None or 0 where it has none)."""

    requests: Requests
    rounds: Rounds
    sums: Sums
    times: Times
    labels: Mapping[str, Words]
    excluded: Mapping[str, Ints]

    @classmethod
    def of(cls, table: pa.Table) -> Self:
        """The measured requests (no warm-up, no calibration) in the order of their ids, so that the order of shards
        changes no bit of a result. `table` needs the columns `COLUMNS`; optional ones may be absent."""
        measured = table.select([name for name in COLUMNS if name in table.column_names])
        measured = measured.filter(pc.equal(measured["phase"], "measure")).sort_by("request_id").combine_chunks()
        lengths = np.asarray(pc.list_value_length(measured["accepted"]).to_numpy(), dtype=np.int64)
        rounds = Rounds.of(measured, lengths)
        labels = {name: np.asarray(v.to_numpy(zero_copy_only=False)) for name, v in lookups(measured, "labels").items()}
        excluded = {
            reason: np.asarray(pc.fill_null(v, 0).to_numpy(zero_copy_only=False), dtype=np.int64)
            for reason, v in lookups(measured, "excluded").items()
        }
        sums, times = Sums.of(rounds, lengths), Times.of(measured, lengths)
        return cls(Requests.of(measured), rounds, sums, times, labels, excluded)

    def __len__(self) -> int:
        return self.sums.rounds.size

    def select(self, mask: Bools) -> "Frame":
        return self.take(np.flatnonzero(mask))

    def take(self, index: Ints) -> "Frame":
        """The requests at `index`, in that order. The cost grows with what is taken, not with what is there."""
        lengths = self.sums.rounds
        starts = (np.cumsum(lengths) - lengths)[index]
        kept = lengths[index]
        rounds = np.repeat(starts - (np.cumsum(kept) - kept), kept) + np.arange(int(kept.sum()))
        return Frame(
            _take(self.requests, index),
            _take(self.rounds, rounds),
            _take(self.sums, index),
            _take(self.times, index),
            {name: values[index] for name, values in self.labels.items()},
            {name: values[index] for name, values in self.excluded.items()},
        )

    @property
    def clusters(self) -> int:
        return int(np.unique(self.requests.cluster).size)

    def clusters_where(self, mask: Bools) -> int:
        return int(np.unique(self.requests.cluster[mask]).size)

    @property
    def counted(self) -> Bools:
        """Finished requests that were run: the ones that statistics rest on."""
        reason = self.requests.finish_reason
        return self.requests.complete & ~equals(reason, "skipped") & ~equals(reason, "error")


def _take(columns: T, index: Ints | Bools) -> T:
    names = [f.name for f in fields(columns)]  # type: ignore[arg-type]
    return type(columns)(**{name: getattr(columns, name)[index] for name in names})
