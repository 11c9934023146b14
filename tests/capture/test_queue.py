import random

from hypothesis import given
from hypothesis import strategies as st
from slow_run import ARMS, talk

from specprof.capture.plan import plan
from specprof.capture.queue import Queue
from specprof.capture.turns import Turns
from specprof.capture.until import Goal
from specprof.records import BASELINE, Prompt, Request


def queue_of(prompts, goal=None, repeats=1, done=()):
    turns = Turns({prompt.id: prompt for prompt in prompts})
    return Queue(plan(prompts, ARMS, repeats=repeats), turns, goal, done), turns


def answer(job, reason="eos"):
    return Request(
        "r", job.prompt.id, job.arm.id, job.prompt.task, int(job.prompt.labels.get("tokens", 9)), 3,
        sample=job.sample, finish_reason=reason, output_text="text",
    )  # fmt: skip


def handed_out(queue, rng, room, reason=lambda job: "eos"):
    """Every job, in the order handed out, when up to `room` are out and any of them may end next."""
    out, jobs = [], []
    while True:
        while len(out) < room and (job := queue.next()):
            out.append(job)
            jobs.append(job)
        if not out:
            return jobs
        job = out.pop(rng.randrange(len(out)))
        queue.ended(answer(job, reason(job)))


prompt_lists = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from((5, 300))), min_size=1, max_size=25).map(
    lambda kinds: [
        Prompt(f"p{number}", task, text="x", labels={"tokens": str(tokens)})
        for number, (task, tokens) in enumerate(kinds)
    ]
)


@given(prompt_lists, st.integers(1, 6), st.integers(1, 5), st.integers(0, 99))
def test_every_bucket_gets_what_is_wanted_or_all_there_is_and_never_more(prompts, wanted, room, seed):
    goal = Goal(wanted, ["sim", BASELINE], prompts, lambda prompt: int(prompt.labels["tokens"]))
    queue, _ = queue_of(prompts, goal)
    ran = {job.prompt.id for job in handed_out(queue, random.Random(seed), room)}
    for kind in {(prompt.task, prompt.labels["tokens"]) for prompt in prompts}:
        there = {prompt.id for prompt in prompts if (prompt.task, prompt.labels["tokens"]) == kind}
        assert len(ran & there) == min(wanted, len(there))


@given(prompt_lists, st.integers(1, 6), st.integers(1, 5), st.sets(st.integers(0, 24)), st.integers(0, 99))
def test_prompts_that_fail_are_replaced_while_there_are_others(prompts, wanted, room, failing, seed):
    bad = {f"p{number}" for number in failing}
    goal = Goal(wanted, ["sim", BASELINE], prompts, lambda prompt: int(prompt.labels["tokens"]))
    queue, _ = queue_of(prompts, goal)
    jobs = handed_out(queue, random.Random(seed), room, lambda job: "error" if job.prompt.id in bad else "eos")
    ran = {job.prompt.id for job in jobs}
    assert len(jobs) == len({job.key for job in jobs}) == 2 * len(ran)
    for kind in {(prompt.task, prompt.labels["tokens"]) for prompt in prompts}:
        good = {prompt.id for prompt in prompts if (prompt.task, prompt.labels["tokens"]) == kind} - bad
        assert len(ran & good) == min(wanted, len(good))


@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 6), st.integers(0, 99))
def test_no_turn_is_handed_out_before_its_history_and_none_is_forgotten(talks, repeats, room, seed):
    prompts = [prompt for number in range(talks) for prompt in talk(f"t{number}")]
    queue, turns = queue_of(prompts, repeats=repeats)
    jobs = []
    seen = queue.next

    def checked():
        if job := seen():
            assert not turns.waits(job.prompt, job.sample)
            jobs.append(job.key)
        return job

    queue.next = checked
    handed_out(queue, random.Random(seed), room)
    assert sorted(jobs) == sorted((p.id, sample, arm.id) for p in prompts for sample in range(repeats) for arm in ARMS)


@given(prompt_lists, st.integers(1, 6), st.integers(0, 40), st.integers(0, 99))
def test_a_queue_that_is_begun_again_asks_for_the_same_jobs(prompts, wanted, cut, seed):
    def goal():
        return Goal(wanted, ["sim", BASELINE], prompts, lambda prompt: int(prompt.labels["tokens"]))

    whole = handed_out(queue_of(prompts, goal())[0], random.Random(seed), 1)
    done = [answer(job) for job in whole[:cut]]
    rest = handed_out(queue_of(prompts, goal(), done=done)[0], random.Random(seed), 1)
    assert [job.key for job in whole[cut:]] == [job.key for job in rest]
