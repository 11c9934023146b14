"""When a run has enough: clusters of every task × prompt bucket, counted in the arm that has fewest."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from specprof.lengths import PROMPT_EDGES, length_label, length_labels
from specprof.records import Prompt, Request

Bucket = tuple[str, str]
"""(task, prompt length)."""

Cluster = tuple[bool, str]


class Goal:
    """`count_tokens` tells a prompt's bucket before it runs. Without it, and for a turn whose history is not there yet,
    such prompts are wanted while a bucket in which one like it ended is short."""

    def __init__(
        self,
        wanted: int,
        arms: Iterable[str],
        prompts: Collection[Prompt],
        count_tokens: Callable[[Prompt], int] | None = None,
    ) -> None:
        self._wanted = wanted
        self._arms = tuple(arms)
        self._counted: dict[Bucket, dict[str, set[Cluster]]] = {}
        self._running: defaultdict[Bucket, set[Cluster]] = defaultdict(set)
        self._available: defaultdict[Bucket, set[Cluster]] = defaultdict(set)
        self._learnt: defaultdict[tuple[str, int | None], set[Bucket]] = defaultdict(set)
        self._skipped: defaultdict[Bucket, set[str]] = defaultdict(set)
        self._known: dict[str, Bucket] = {}
        if count_tokens:
            self._known = {p.id: _bucket(p.task, count_tokens(p)) for p in prompts if p.follows is None}
        for prompt in prompts:
            if bucket := self._known.get(prompt.id):
                self._available[bucket].add(prompt.cluster)
                self._arms_of(bucket)

    def wants(self, prompts: Iterable[Prompt]) -> bool:
        """Whether one of the prompts of a cluster falls, or may fall, into a bucket that would stay short."""
        return any(self._wants(prompt) for prompt in prompts)

    def begin(self, prompts: Iterable[Prompt]) -> None:
        """A cluster will run: its buckets have it in prospect."""
        for prompt in prompts:
            if bucket := self._known.get(prompt.id):
                self._running[bucket].add(prompt.cluster)

    def leave(self, cluster: Cluster) -> None:
        """All of a cluster ran: only what was counted counts."""
        for running in self._running.values():
            running.discard(cluster)

    def count(self, prompt: Prompt, request: Request) -> None:
        if not request.prompt_tokens:  # it never came to be: no bucket has it
            return
        bucket = _bucket(prompt.task, request.prompt_tokens)
        arms = self._arms_of(bucket)
        if prompt.id not in self._known:
            self._learnt[prompt.task, prompt.turn].add(bucket)
        if request.finish_reason not in ("skipped", "error"):
            arms[request.arm].add(prompt.cluster)
        self._skipped[bucket].update(request.excluded if request.finish_reason == "skipped" else ())

    def progress(self) -> tuple[int, int]:
        """(clusters so far, clusters that can be had), over all buckets seen, none above what is wanted."""
        had = {bucket: min(self._fewest(bucket), self._wanted) for bucket in self._counted}
        can = (min(len(self._available.get(b, ())) or self._wanted, self._wanted) for b in had)
        return sum(had.values()), sum(max(*pair) for pair in zip(had.values(), can, strict=True))

    def outcome(self) -> dict[str, Any]:
        """For run.json: clusters by task and bucket, how many more each needs where it lacks some, and why prompts of
        one that has none were skipped."""
        clusters: dict[str, dict[str, int]] = {}
        short: dict[str, dict[str, int]] = {}
        skipped: dict[str, dict[str, str]] = {}
        for task, length in sorted(self._counted, key=_order):
            found = clusters.setdefault(task, {})[length] = self._fewest((task, length))
            if found < self._wanted:
                short.setdefault(task, {})[length] = self._wanted - found
            if not found and (reasons := self._skipped[task, length]):
                skipped.setdefault(task, {})[length] = ", ".join(sorted(reasons))
        return {"wanted": self._wanted, "clusters": clusters, "short": short, "skipped": skipped}

    def _wants(self, prompt: Prompt) -> bool:
        if bucket := self._known.get(prompt.id):
            return self._fewest(bucket, self._running[bucket]) < self._wanted
        learnt = self._learnt.get((prompt.task, prompt.turn))
        return learnt is None or any(self._fewest(bucket) < self._wanted for bucket in learnt)

    def _fewest(self, bucket: Bucket, running: Collection[Cluster] = ()) -> int:
        arms = self._counted[bucket].values()
        return min(len(done) + sum(cluster not in done for cluster in running) for done in arms)

    def _arms_of(self, bucket: Bucket) -> dict[str, set[Cluster]]:
        return self._counted.setdefault(bucket, {arm: set() for arm in self._arms})


def sentences(outcome: Mapping[str, Any]) -> Iterator[str]:
    """One line per bucket of `Goal.outcome`: its clusters, and how many more prompts it needs."""
    for task, buckets in outcome["clusters"].items():
        for length, found in buckets.items():
            more = outcome["short"].get(task, {}).get(length)
            needs = f" of {outcome['wanted']}, {more} more prompt{'s' * (more != 1)} needed" if more else ""
            if reason := outcome["skipped"].get(task, {}).get(length):
                needs = f" of {outcome['wanted']}, all prompts skipped: {reason}"
            yield f"{task}, prompts of {length} tokens: {found} cluster{'s' * (found != 1)}{needs}"


def _bucket(task: str, tokens: int) -> Bucket:
    return task, length_label(tokens, PROMPT_EDGES)


def _order(bucket: Bucket) -> tuple[str, int]:
    return bucket[0], length_labels(PROMPT_EDGES).index(bucket[1])
