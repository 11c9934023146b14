import pytest

from specprof.engines.simulated import PrefixEngine
from specprof.errors import EnvironmentError_, UsageError
from specprof.records import Prompt
from specprof.store.run import read_info

PROMPTS = [Prompt(id=f"p{i}", task="code", text="one two", output_tokens=5) for i in range(6)]


class Trapped(PrefixEngine):
    """Sees one fault from the start, another at its third request, and can fail after some requests."""

    def __init__(self, flag="self-tuning", fails_after=None):
        super().__init__()
        self.flag, self.fails_after, self.answered = flag, fails_after, 0

    def traps(self):
        return {"sim": [self.flag, *(["inconsistent-draft"] if self.answered > 2 else [])], "baseline": []}

    def generate(self, jobs):
        for request in super().generate(jobs):
            if self.answered == self.fails_after:
                raise RuntimeError("gone")
            self.answered += 1
            yield request


def test_faults_that_the_engine_saw_stand_in_the_run(session):
    assert session.run(PROMPTS, Trapped())["arm_flags"] == {"sim": ["inconsistent-draft", "self-tuning"]}


def test_an_engine_that_sees_no_faults_says_nothing(session):
    assert "arm_flags" not in session.run(PROMPTS)


def test_faults_of_every_part_of_a_run_are_kept(session):
    with pytest.raises(RuntimeError, match="gone"):
        session.run(PROMPTS, Trapped(fails_after=4))
    assert read_info(session.folder)["arm_flags"] == {"sim": ["inconsistent-draft", "self-tuning"]}
    info = session.run(PROMPTS, Trapped("lossy", fails_after=99), go_on=True)
    assert info["arm_flags"] == {"sim": ["inconsistent-draft", "lossy", "self-tuning"]}


def test_a_fault_is_written_when_it_is_seen_not_at_the_end(session):
    found = []

    def look(request, done, total):
        found.append(read_info(session.folder).get("arm_flags"))

    session.run(PROMPTS, Trapped(), on_request=look)
    assert found[0] == {"sim": ["self-tuning"]}
    assert found[4] == {"sim": ["inconsistent-draft", "self-tuning"]}


def test_an_engine_that_stops_early_is_asked_again(session):
    class Lazy(PrefixEngine):
        def generate(self, jobs):
            yield from super().generate([next(iter(jobs))])

    session.run(PROMPTS, Lazy())
    assert len(session.keys) == len(set(session.keys)) == 12


def test_an_engine_that_takes_no_job_is_stopped(session):
    class Idle(PrefixEngine):
        def generate(self, jobs):
            return iter(())

    with pytest.raises(EnvironmentError_, match="without request"):
        session.run(PROMPTS, Idle())
    assert read_info(session.folder)["state"] == "failed"


def test_a_fixed_length_holds_whatever_the_prompt_asks_for(session):
    info = session.run(PROMPTS, fixed_length=True, max_tokens=12)
    assert {(row["response_tokens"], row["finish_reason"]) for row in session.rows} == {(12, "length")}
    assert info["fixed_length"] is True


@pytest.mark.parametrize("setting", ["fixed_length", "token_detail"])
def test_what_is_recorded_and_how_long_stays_the_same_on_resume(session, setting):
    session.run(PROMPTS)
    with pytest.raises(UsageError, match=f"`{setting}` was False, is True"):
        session.run(PROMPTS, go_on=True, **{setting: True})


def test_token_detail_reaches_the_shards(session):
    session.run(PROMPTS, token_detail=True, save_text=True, max_tokens=30)
    for row in session.rows:
        if row["arm"] == "baseline":
            assert row["draft_ids"] is None
            continue
        at, drafted = 1, 0
        for proposed, accepted, emitted in zip(row["proposed"], row["accepted"], row["emitted"], strict=True):
            proposal = row["draft_ids"][drafted : drafted + proposed]
            right = [one == other for one, other in zip(proposal, row["output_ids"][at:], strict=False)]
            assert right[: accepted + 1] in ([True] * accepted, [True] * accepted + [False])
            at, drafted = at + emitted, drafted + proposed
        assert drafted == len(row["confidence"])
