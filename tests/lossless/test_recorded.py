import pytest

from specprof.errors import UsageError
from specprof.lossless.recorded import compare_recorded
from specprof.records import Arm, Request, Round
from specprof.store.run import create
from specprof.store.seal import write_shard


def request(arm, index, answer, ids, digest):
    rounds = () if arm == "baseline" else (Round(proposed=3, drafted=3, accepted=2, emitted=3),)
    return Request(
        request_id=f"{arm}-{index}",
        prompt_id=f"p{index}",
        arm=arm,
        task="t",
        prompt_tokens=4,
        response_tokens=3,
        finish_reason="length",
        rounds=rounds,
        output_ids=answer if ids else None,
        output_sha256=bytes(answer).ljust(32) if digest else None,
    )


@pytest.fixture
def recorded(tmp_path):
    """A run of 20 prompts whose baseline always says 1 2 3."""

    def record(ours=lambda index: (1, 2, 3), temperature=0.0, ids=True, digest=True, methods=("none", "prompt_lookup")):
        arms = [Arm("baseline" if m == "none" else "fast", method=m, temperature=temperature) for m in methods]
        info = {"run_id": "run", "arms": {arm.id: arm.to_dict() for arm in arms}, "max_new_tokens": 3}
        with create(tmp_path / "run", info) as run:
            rows = [(arm.id, index) for arm in arms for index in range(20)]
            answers = {"fast": ours, "baseline": lambda index: (1, 2, 3)}
            write_shard(run.path, "w1", [request(arm, i, answers[arm](i), ids, digest) for arm, i in rows])
        return tmp_path / "run"

    return record


def test_the_same_answers_are_lossless(recorded):
    (arm,) = compare_recorded(recorded()).arms
    assert (arm.verdict.outcome, arm.answers) == ("lossless", 20)
    assert arm.drafted == {"drafted": 60, "accepted": 40}


def test_an_answer_that_parts_is_shown_but_not_judged(recorded):
    (arm,) = compare_recorded(recorded(lambda index: (1, 9, 3) if index == 7 else (1, 2, 3))).arms
    (divergence,) = arm.greedy.divergences
    assert (divergence.prompt, divergence.position, divergence.ours, divergence.theirs) == ("p7", 1, 9, 2)
    assert (arm.greedy.identical.value, arm.verdict.outcome) == (0.95, "inconclusive")


def test_hashes_alone_tell_how_many_are_the_same(recorded):
    run = recorded(lambda index: (1, 9, 3) if index < 5 else (1, 2, 3), ids=False)
    (arm,) = compare_recorded(run).arms
    assert arm.greedy.identical.value == 0.75
    assert {d.position for d in arm.greedy.divergences} == {None}


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"methods": ("prompt_lookup",)}, "nothing to compare"),
        ({"temperature": 0.7}, "was sampled"),
        ({"ids": False, "digest": False}, "neither answers nor their hashes"),
    ],
)
def test_a_run_that_could_show_nothing_is_refused(recorded, settings, problem):
    with pytest.raises(UsageError, match=problem):
        compare_recorded(recorded(**settings))
