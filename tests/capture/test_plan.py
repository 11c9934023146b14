from collections import Counter

import pytest

from specprof.capture.plan import plan
from specprof.errors import UsageError
from specprof.records import BASELINE, Arm, Prompt

PROMPTS = [Prompt(id=f"p{i}", task="t", text="x", output_tokens=7 if i == 3 else None) for i in range(40)]
ARMS = [Arm(id="spec", method="simulated", k=2, temperature=1.0), Arm(id=BASELINE, method="none", temperature=1.0)]


def test_every_prompt_sample_and_arm_is_planned_once():
    jobs = plan(PROMPTS, ARMS, repeats=3)
    assert Counter(job.key for job in jobs) == Counter(
        (prompt.id, sample, arm.id) for prompt in PROMPTS for sample in range(3) for arm in ARMS
    )


def test_the_arms_of_a_block_run_next_to_each_other_in_random_order():
    jobs = plan(PROMPTS, ARMS)
    blocks = [jobs[i : i + 2] for i in range(0, len(jobs), 2)]
    assert all(one.prompt == other.prompt and one.block == other.block == i for i, (one, other) in enumerate(blocks))
    assert [(one.arm_order, other.arm_order) for one, other in blocks] == [(0, 1)] * len(PROMPTS)
    first = Counter(one.arm.id for one, _ in blocks)
    assert 8 < first["spec"] < 32  # 40 fair coins


def test_the_order_is_shuffled_but_fixed_by_the_seed():
    order = [job.key for job in plan(PROMPTS, ARMS, seed=1)]
    assert order == [job.key for job in plan(PROMPTS, ARMS, seed=1)]
    assert order != [job.key for job in plan(PROMPTS, ARMS, seed=2)]
    assert [key[0] for key in order[::2]] != [prompt.id for prompt in PROMPTS]


def test_a_prompt_and_sample_has_one_seed_in_every_arm_and_its_own():
    seeds = {}
    for job in plan(PROMPTS, ARMS, repeats=2):
        seeds.setdefault((job.prompt.id, job.sample), set()).add(job.seed)
    assert all(len(found) == 1 for found in seeds.values())
    assert len(set.union(*seeds.values())) == len(seeds) == 80


def test_a_prompts_own_output_tokens_win_over_the_default():
    assert {job.max_tokens for job in plan(PROMPTS, ARMS, max_tokens=9) if job.prompt.id == "p3"} == {7}
    assert {job.max_tokens for job in plan(PROMPTS, ARMS, max_tokens=9) if job.prompt.id != "p3"} == {9}


def test_a_fixed_length_is_that_of_every_prompt():
    assert {job.max_tokens for job in plan(PROMPTS, ARMS, max_tokens=9, fixed_length=True)} == {9}


@pytest.mark.parametrize(
    ("settings", "words"), [({"repeats": 0}, "--repeat 0"), ({"max_tokens": 0}, "nothing to decode")]
)
def test_a_plan_without_work_is_refused(settings, words):
    with pytest.raises(UsageError, match=words):
        plan(PROMPTS, ARMS, **settings)


def test_repeating_a_greedy_answer_is_refused():
    with pytest.raises(UsageError, match="temperature 0"):
        plan(PROMPTS, [Arm(id="spec", method="simulated", k=2)], repeats=2)


def test_the_order_of_prompts_and_arms_is_no_part_of_the_plan():
    keys = [(job.key, job.block, job.arm_order) for job in plan(PROMPTS, ARMS, repeats=2)]
    assert keys == [(job.key, job.block, job.arm_order) for job in plan(PROMPTS[::-1], ARMS[::-1], repeats=2)]
