"""The answers of every arm to every prompt: driving the engine, and what was left out."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from specprof.capture.plan import job_seed
from specprof.engines.base import Engine
from specprof.errors import UsageError
from specprof.records import Arm, Job, Prompt, Request

OnRequest = Callable[[Request, int, int], None]


@dataclass
class Answers:
    """Of one arm: requests by prompt id, and how many were left out, by reason."""

    requests: dict[str, list[Request]] = field(default_factory=lambda: defaultdict(list))
    left_out: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def __iter__(self) -> Iterator[Request]:
        for requests in self.requests.values():
            yield from requests

    def ids(self, prompt_id: str) -> list[tuple[int, ...]]:
        return [request.output_ids or () for request in self.requests.get(prompt_id, [])]

    def add(self, request: Request) -> None:
        if request.finish_reason in ("skipped", "error", "abort") or not request.complete:
            self.left_out[next(iter(request.excluded), request.finish_reason or "not complete")] += 1
        else:
            self.requests[request.prompt_id].append(request)


def collect(
    engine: Engine,
    prompts: Sequence[Prompt],
    arms: Sequence[Arm],
    *,
    samples: int,
    seed: int,
    max_tokens: int,
    on_request: OnRequest | None = None,
) -> dict[str, Answers]:
    """Run every arm on every prompt in one random order, inside the engine's `with` block with `save_text`.

    Every arm that samples draws its own random numbers, unlike in a run: two samples that share them would agree too
    well. Greedy answers are to be the same: their seeds are too.
    """
    answers = {arm.id: Answers() for arm in arms}
    jobs = list(_jobs(prompts, arms, samples, seed, max_tokens))
    for done, request in enumerate(engine.generate(jobs), 1):
        if request.output_ids is None and request.response_tokens:
            raise UsageError("this engine returns no token ids: there is nothing to compare", "verify another engine")
        answers[request.arm].add(request)
        if on_request:
            on_request(request, done, len(jobs))
    return answers


def _jobs(prompts: Sequence[Prompt], arms: Sequence[Arm], samples: int, seed: int, max_tokens: int) -> Iterable[Job]:
    triples = [(prompt, sample, index) for prompt in prompts for sample in range(samples) for index in range(len(arms))]
    random.Random(seed).shuffle(triples)
    for number, (prompt, sample, index) in enumerate(triples):
        arm = arms[index]
        own = job_seed(seed + index if arm.temperature else seed, prompt.id, sample)
        yield Job(f"verify-{number}", prompt, sample, arm, own, max_tokens)


def drafted(answers: Iterable[Request]) -> Mapping[str, int]:
    """Draft tokens that reached verification, and those of them that reached the answer."""
    rounds = [round for request in answers for round in request.rounds]
    return {"drafted": sum(r.drafted for r in rounds), "accepted": sum(r.accepted for r in rounds)}
