from collections import Counter
from dataclasses import replace

import pytest

from specprof.capture.until import Goal, sentences
from specprof.engines.simulated import PrefixEngine
from specprof.errors import UsageError
from specprof.records import BASELINE, Prompt, Request
from specprof.store.run import read_info

SHORT, LONG = 5, 200  # words, which are the simulation's tokens: buckets 0-128 and 128-512


def prompts(count, tasks=("code", "chat"), lengths=(SHORT, LONG)):
    return [
        Prompt(id=f"{task}-{words}-{i}", task=task, text="word " * words)
        for task in tasks
        for words in lengths
        for i in range(count)
    ]


class Blind:
    """Cannot tell how long a prompt is before it runs."""

    def __init__(self, inner):
        for name in ("capabilities", "check", "describe", "generate"):
            setattr(self, name, getattr(inner, name))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


class Skipping(PrefixEngine):
    """Skips the prompts of `refused`, in the speculative arm only."""

    def __init__(self, refused):
        super().__init__()
        self.refused = refused

    def generate(self, jobs):
        for job in jobs:
            if job.prompt.id in self.refused and job.arm.id == "sim":
                yield Request.skipped(job, "too long", prompt_tokens=self.count_tokens(job.prompt))
            else:
                yield from super().generate([job])


def ran(session):
    """Prompts that ran, by task and length."""
    ids = {row["prompt_id"] for row in session.rows}
    return Counter(id.rpartition("-")[0] for id in ids)


def test_a_run_ends_when_every_bucket_has_enough(session):
    info = session.run(prompts(30), until=7)
    assert info["state"] == "complete"
    assert ran(session) == {"code-5": 7, "code-200": 7, "chat-5": 7, "chat-200": 7}
    everywhere = {"0-128": 7, "128-512": 7}
    assert info["until"] == {
        "wanted": 7,
        "clusters": {"chat": everywhere, "code": everywhere},
        "short": {},
        "skipped": {},
    }
    assert info["jobs"] is None


def test_when_prompts_run_out_the_shortfall_is_named(session):
    few = prompts(3, tasks=["chat"]) + prompts(9, tasks=["code"], lengths=[SHORT])
    outcome = session.run(few, until=5)["until"]
    assert outcome["clusters"] == {"chat": {"0-128": 3, "128-512": 3}, "code": {"0-128": 5}}
    assert outcome["short"] == {"chat": {"0-128": 2, "128-512": 2}}
    assert list(sentences(outcome)) == [
        "chat, prompts of 0-128 tokens: 3 clusters of 5, 2 more prompts needed",
        "chat, prompts of 128-512 tokens: 3 clusters of 5, 2 more prompts needed",
        "code, prompts of 0-128 tokens: 5 clusters",
    ]


def test_repeats_add_requests_not_clusters(session):
    outcome = session.run(prompts(9, lengths=[SHORT]), until=4, repeats=3)["until"]
    assert outcome["clusters"] == {"chat": {"0-128": 4}, "code": {"0-128": 4}}
    assert Counter(row["task"] for row in session.rows) == {"chat": 4 * 3 * 2, "code": 4 * 3 * 2}


def test_a_skipped_prompt_is_replaced_by_a_fresh_one(session):
    offered = prompts(12, tasks=["code"], lengths=[SHORT])
    refused = {prompt.id for prompt in offered[:5]}
    info = session.run(offered, Skipping(refused), until=7)
    good = {row["prompt_id"] for row in session.rows if row["arm"] == "sim" and row["finish_reason"] != "skipped"}
    assert info["until"]["clusters"] == {"code": {"0-128": 7}}
    assert len(good) == 7
    assert not good & refused


def test_a_bucket_that_nothing_fills_is_still_present(session):
    offered = prompts(2, tasks=["code"])
    outcome = session.run(offered, Skipping({p.id for p in offered if "-200-" in p.id}), until=2)["until"]
    assert outcome["clusters"]["code"] == {"0-128": 2, "128-512": 0}
    assert outcome["short"] == {"code": {"128-512": 2}}


def test_an_engine_that_cannot_count_goes_on_until_every_bucket_it_met_is_full(session):
    offered = prompts(40, tasks=["code"], lengths=[SHORT]) + prompts(20, tasks=["code"], lengths=[LONG])
    info = session.run(offered, Blind(PrefixEngine()), until=5)
    found = ran(session)
    assert min(found["code-5"], found["code-200"]) == 5
    assert max(found["code-5"], found["code-200"]) < 20
    assert info["until"]["clusters"]["code"] == {"0-128": found["code-5"], "128-512": found["code-200"]}


def test_jobs_pulled_ahead_do_not_overshoot(session, prefetching):
    session.run(prompts(20, lengths=[SHORT]), prefetching, until=3)
    assert ran(session) == {"code-5": 3, "chat-5": 3}


def test_a_conversation_is_one_cluster_in_each_bucket_that_it_reaches(session):
    def turns(name):
        history = ({"role": "user", "content": "word " * SHORT}, {"role": "user", "content": "word " * LONG})
        return [
            Prompt(id=f"{name}{turn}", task="talk", messages=history[: turn + 1], conversation_id=name, turn=turn)
            for turn in range(2)
        ]

    outcome = session.run([prompt for name in "abcdef" for prompt in turns(name)], until=4)["until"]
    assert outcome["clusters"] == {"talk": {"0-128": 4, "128-512": 4}}
    assert len({row["conversation_id"] for row in session.rows}) == 4


def test_progress_counts_clusters_of_those_that_can_be_had(session):
    seen = []
    offered = prompts(9, tasks=["code"], lengths=[SHORT]) + prompts(2, tasks=["code"], lengths=[LONG])
    session.run(offered, until=5, on_request=lambda request, done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (7, 7)
    assert {total for _, total in seen} == {7}


@pytest.mark.parametrize("cut", [1, 4, 9, 22])
def test_an_interrupted_run_goes_on_to_the_same_requests(session, tmp_path, cut):
    whole = type(session)(tmp_path / "whole")
    whole.run(prompts(15), until=4)

    def interrupt(request, done, total):
        seen.append(request)
        if len(seen) == cut:
            raise KeyboardInterrupt

    seen = []
    with pytest.raises(KeyboardInterrupt):
        session.run(prompts(15), until=4, on_request=interrupt)
    info = session.run(prompts(15), until=4, go_on=True)
    assert session.keys == whole.keys
    assert info["until"]["short"] == {}


def test_an_interrupted_run_says_how_far_it_came(session):
    def interrupt(request, done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session.run(prompts(9, tasks=["code"], lengths=[SHORT]), until=5, on_request=interrupt)
    info = read_info(session.folder)
    assert info["state"] == "interrupted"
    short = {"code": {"0-128": 2}}
    assert info["until"] == {"wanted": 5, "clusters": {"code": {"0-128": 3}}, "short": short, "skipped": {}}


def test_another_number_is_not_the_same_run(session):
    session.run(prompts(3), until=2)
    with pytest.raises(UsageError, match="`until_n` was 2, is 3"):
        session.run(prompts(3), until=3, go_on=True)


def test_no_clusters_are_no_goal(session):
    with pytest.raises(UsageError, match="--until-n 0"):
        session.run(prompts(3), until=0)


def test_the_arm_with_the_fewest_clusters_decides():
    (one, two) = prompts(2, tasks=["code"], lengths=[SHORT])
    goal = Goal(2, ("sim", BASELINE), [one, two], lambda prompt: SHORT)
    answered = Request("r", one.id, "sim", "code", SHORT, 4, finish_reason="eos")
    for request in (answered, replace(answered, arm=BASELINE), replace(answered, prompt_id=two.id)):
        goal.count(one if request.prompt_id == one.id else two, request)
    goal.count(two, replace(answered, prompt_id=two.id, arm=BASELINE, finish_reason="error"))
    assert goal.outcome()["clusters"] == {"code": {"0-128": 1}}
    assert goal.outcome()["short"] == {"code": {"0-128": 1}}


def test_a_bucket_that_the_model_cannot_take_says_why_and_asks_for_no_more_prompts(session):
    offered = prompts(3, tasks=["code"])
    engine = Skipping({p.id for p in offered if "-200-" in p.id})
    for info in (session.run(offered, engine, until=2), session.run(offered, engine, until=2, go_on=True)):
        assert list(sentences(info["until"])) == [
            "code, prompts of 0-128 tokens: 2 clusters",
            "code, prompts of 128-512 tokens: 0 clusters of 2, all prompts skipped: too long",
        ]


def test_what_says_the_same_is_one_cluster_of_the_goal(session):
    twice = [replace(prompt, conversation_id="same") for prompt in prompts(2, tasks=["code"], lengths=[SHORT])]
    assert session.run(twice, until=2)["until"]["clusters"] == {"code": {"0-128": 1}}
