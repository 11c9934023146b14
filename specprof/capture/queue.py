"""Which job comes next, while answers come back that later jobs need or that make them needless."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence

from specprof.capture.plan import Planned
from specprof.capture.turns import Turns
from specprof.capture.until import Cluster, Goal
from specprof.records import Prompt, Request


class Queue:
    """The jobs of a plan in its order, but that none comes before its history is there.

    With a goal the order is that of the clusters in the plan: one is taken up when its bucket would stay short without
    it, and then run as a whole.
    """

    def __init__(self, jobs: Sequence[Planned], turns: Turns, goal: Goal | None, done: Iterable[Request]) -> None:
        self._turns, self._goal = turns, goal
        self._ready: deque[Planned] = deque()
        self._waiting: defaultdict[tuple[str | None, int], list[Planned]] = defaultdict(list)
        ended = {(request.prompt_id, request.sample, request.arm): request for request in done}
        self.missing = [job for job in jobs if job.key not in ended]
        self._left = Counter(job.prompt.cluster for job in self.missing)
        for request in ended.values():
            self._learn(turns.prompts[request.prompt_id], request)
        if goal is None:
            self._ready.extend(self.missing)
        else:
            started = {turns.prompts[prompt].cluster for prompt, _, _ in ended}
            self._later = deque(self._clusters(started))

    def next(self) -> Planned | None:
        """The next job. None: no other can run before one that is out has ended; with none out, no other will."""
        while True:
            while self._ready:
                job = self._ready.popleft()
                if not self._turns.waits(job.prompt, job.sample):
                    return job
                self._waiting[job.prompt.follows, job.sample].append(job)
            if not self._take_up():
                return None

    def ended(self, request: Request) -> None:
        """A measured job came back."""
        prompt = self._turns.prompts[request.prompt_id]
        if self._learn(prompt, request):
            self._ready.extendleft(reversed(self._waiting.pop((request.prompt_id, request.sample), [])))
        cluster = prompt.cluster
        self._left[cluster] -= 1
        if self._goal and not self._left[cluster]:
            self._goal.leave(cluster)

    def _learn(self, prompt: Prompt, request: Request) -> bool:
        if self._goal:
            self._goal.count(prompt, request)
        return self._turns.keep(request)

    def _take_up(self) -> bool:
        """Make the jobs of the next cluster that is wanted ready; those passed over come again later."""
        if self._goal is None:
            return False
        for _ in range(len(self._later)):
            jobs, started = self._later.popleft()
            prompts = {job.prompt.id: job.prompt for job in jobs}.values()
            if started or self._goal.wants(prompts):
                self._goal.begin(prompts)
                self._ready.extend(jobs)
                return True
            self._later.append((jobs, started))
        return False

    def _clusters(self, started: set[Cluster]) -> list[tuple[list[Planned], bool]]:
        """(missing jobs, whether others of the cluster are done), those first that an earlier part had taken up."""
        found: dict[Cluster, list[Planned]] = {}
        for job in self.missing:
            found.setdefault(job.prompt.cluster, []).append(job)
        clusters = [(jobs, cluster in started) for cluster, jobs in found.items()]
        return sorted(clusters, key=lambda item: not item[1])
