"""What an engine returns is the job's answer in storable numbers, or the run ends before it is written."""

import math
from dataclasses import replace

import pytest

from specprof.engines.simulated import PrefixEngine
from specprof.errors import EnvironmentError_
from specprof.records import Prompt, Round

PROMPTS = [Prompt(id=f"p{i}", task="code", text=f"word {i}") for i in range(3)]


class Altered(PrefixEngine):
    """Answers the second request of a run otherwise."""

    def __init__(self, change):
        super().__init__()
        self.change, self.seen = change, 0

    def generate(self, jobs):
        for request in super().generate(jobs):
            self.seen += 1
            yield self.change(request) if self.seen == 2 else request


def in_round(**values):
    return lambda request: replace(request, rounds=tuple(replace(step, **values) for step in request.rounds))


IDENTITY = {
    "prompt_id": "nobody's",
    "arm": "unknown",
    "task": "chat",
    "sample": 1,
    "seed": 5,
    "phase": "warmup",
    "max_tokens": 7,
    "complete": 1,
    "conversation_id": "c",
    "turn": 1,
    "labels": {},
}
NUMBERS = {
    "latency_us": 2**70,
    "queue_us": -1,
    "ttft_us": 1.5,
    "prompt_tokens": -1,
    "response_tokens": True,
    "cached_prompt_tokens": 2**31,
    "started_at": math.inf,
    "excluded": {"x": -1},
    "output_ids": (1, -1),
    "rounds": [],
    "engine_request_id": 5,
    "output_text": "\ud800",
    "finish_reason": "banana",
    "censor_reason": "banana",
}


@pytest.mark.parametrize(("name", "value"), [*IDENTITY.items(), *NUMBERS.items()])
def test_what_is_not_the_job_s_answer_ends_the_run_before_it_is_written(session, name, value):
    engine = Altered(lambda request: replace(request, **{name: value}))
    with pytest.raises(EnvironmentError_, match=rf"request `w1-1` .*{name} is "):
        session.run(PROMPTS, engine, arms=session.spec(PROMPTS).config.arms[:1])
    assert len(session.rows) == 1
    assert session.run(PROMPTS, go_on=True, arms=session.spec(PROMPTS).config.arms[:1])["state"] == "complete"
    assert len(session.rows) == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("draft_us", -1),
        ("verify_us", 2**70),
        ("step_us", math.nan),
        ("proposed", "3"),
        ("confidence", (math.nan, 0.5, 0.5)),
        ("target_prob", (math.inf, 0.5, 0.5)),
        ("draft_ids", (2**40, 1, 1)),
    ],
)
def test_a_round_that_cannot_be_stored_ends_the_run(session, name, value):
    with pytest.raises(EnvironmentError_, match=f"{name} is "):
        session.run(PROMPTS, Altered(in_round(**{name: value})), arms=session.spec(PROMPTS).config.arms[:1])
    assert len(session.rows) == 1


def test_a_live_round_is_looked_at_before_it_is_written(session):
    class Live(PrefixEngine):
        def generate(self, jobs):
            for job in jobs:
                job.on_round(Round(1, 1, 1, 2, step_us=-5))
                yield from super().generate([job])

    with pytest.raises(EnvironmentError_, match="a live round: step_us is -5"):
        session.run(PROMPTS, Live())


def test_what_is_no_request_at_all_is_named(session):
    with pytest.raises(EnvironmentError_, match="returned None, which is not open"):
        session.run(PROMPTS, Altered(lambda request: None))


@pytest.mark.parametrize("description", [{"engine": {1, 2}}, [1, 2], None])
def test_a_description_that_is_no_json_object_is_the_engine_s_fault(session, description):
    class Odd(PrefixEngine):
        def describe(self):
            return description

    with pytest.raises(EnvironmentError_, match="`describe\\(\\)` is no JSON object"):
        session.run(PROMPTS, Odd())


@pytest.mark.parametrize("count", [None, -1, 2.5])
def test_a_count_of_tokens_that_is_none_is_the_engine_s_fault(session, count):
    class Uncounted(PrefixEngine):
        def count_tokens(self, prompt):
            return count

    with pytest.raises(EnvironmentError_, match=f"`count_tokens` gives {count} for prompt `p"):
        session.run(PROMPTS, Uncounted(), until=2)
