from collections import defaultdict
from dataclasses import replace

import pytest

from specprof.errors import UsageError
from specprof.lossless.verify import verify


@pytest.fixture
def judged(table):
    def run(*methods, samples=300, engine=None, resolution=0.15, **settings):
        config = table.config(*methods, **settings)
        result = verify(engine or table.Engine(), config, table.prompts, samples=samples, resolution=resolution)
        return result, {arm.arm.id: arm for arm in result.arms}

    return run


def failing(arm):
    return {test.name for test in arm.tests if test.p_holm is not None and test.p_holm < 0.01}


def test_an_honest_arm_passes_and_one_that_flattens_the_distribution_is_caught(judged):
    result, arms = judged("lossless", "flat")
    assert (arms["lossless"].verdict.outcome, arms["flat"].verdict.outcome) == ("lossless", "lossy")
    assert failing(arms["flat"]) >= {"first", "next", "rank", "log-probability"}
    assert result.outcome == "lossy"


def test_a_false_alarm_is_rarer_than_its_level(judged):
    """100 commands of 2 arms at 1 %: 5 or more alarms happen once in 290. Uncorrected, 13 of them would raise one."""
    outcomes = [judged("lossless", "silent", seed=seed, samples=60)[0].outcome for seed in range(100)]
    assert outcomes.count("lossy") <= 4


def test_two_arms_of_one_seed_do_not_share_their_random_numbers(judged):
    _, arms = judged("lossless", samples=60)
    (length,) = (test for test in arms["lossless"].tests if test.name == "length")
    assert length.difference.value != 0


def test_greedy_arms_get_the_same_seeds(table):
    seeds = defaultdict(set)

    class Watched(table.Engine):
        def generate(self, jobs):
            for job in jobs:
                seeds[job.prompt.id].add(job.seed)
                yield from super().generate([job])

    verify(Watched(), table.config("lossless", "last", temperature=0.0), table.prompts)
    assert [len(found) for found in seeds.values()] == [1, 1, 1, 1]


def test_prompts_that_all_need_an_earlier_answer_leave_nothing_to_compare(judged, table):
    table.prompts[:] = [replace(prompt, follows="first") for prompt in table.prompts]
    with pytest.raises(UsageError, match="no prompt to compare: turn that follows"):
        judged("lossless")


def test_an_arm_that_ends_later_is_caught_by_its_length(judged):
    _, arms = judged("long")
    assert "length" in failing(arms["long"])


def test_too_few_samples_are_inconclusive_and_say_how_many_more(judged):
    _, arms = judged("lossless", samples=30)
    verdict = arms["lossless"].verdict
    assert verdict.outcome == "inconclusive"
    assert "times the samples" in verdict.evidence[0]


def test_an_arm_that_drafts_nothing_is_never_passed(judged):
    _, arms = judged("silent")
    assert arms["silent"].verdict.outcome == "inconclusive"
    assert "plain decoding" in arms["silent"].verdict.evidence[0]


def test_scores_that_the_baseline_contradicts_do_not_count(judged, table):
    """The table is read backwards: without its control every arm would look lossy."""
    engine = table.Engine()
    engine.scores_off = True
    _, arms = judged("lossless", "flat", engine=engine)
    void = {test.name for test in arms["lossless"].tests if not test.counts}
    assert void >= {"first", "next", "rank"}
    assert arms["lossless"].verdict.outcome != "lossy"
    assert "first-baseline" in failing(arms["flat"])


def test_an_engine_that_cannot_score_is_compared_with_its_baseline_alone(judged, table):
    members = {name: value for name, value in vars(table.Engine).items() if name != "score"}
    engine = type("Mute", (), members)
    _, arms = judged("flat", engine=engine(), samples=300)
    assert {test.name for test in arms["flat"].tests} == {"first-baseline", "next-baseline", "length"}
    assert arms["flat"].verdict.outcome == "lossy"


def test_greedy_answers_that_are_the_same_pass_if_there_are_enough(judged, table):
    result, arms = judged("lossless", temperature=0.0, samples=1)
    assert arms["lossless"].greedy.identical.value == 1.0
    assert result.outcome == "inconclusive"
    table.prompts += [replace(table.prompts[0], id=str(index)) for index in range(4, 16)]
    assert judged("lossless", temperature=0.0, samples=1)[0].outcome == "lossless"


def test_a_greedy_arm_that_strays_from_the_best_token_is_lossy(judged):
    result, arms = judged("last", temperature=0.0, samples=1)
    assert {d.judgement for d in arms["last"].greedy.divergences} == {"bug"}
    assert result.outcome == "lossy"


def test_what_could_show_nothing_is_refused(judged, table):
    with pytest.raises(UsageError, match="one sample"):
        judged("lossless", samples=1)
    with pytest.raises(UsageError, match="temperature 0"):
        judged("lossless", samples=2, temperature=0.0)
    with pytest.raises(UsageError, match="cut short"):
        judged("lossless", max_tokens=4)
    with pytest.raises(UsageError, match="nothing to compare"):
        judged()
