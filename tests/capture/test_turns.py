from collections import Counter

import pytest
from slow_run import ARMS, CONVERSATIONS, TURNS, said, talk

from specprof.capture.plan import plan
from specprof.capture.turns import LOST
from specprof.engines.simulated import PrefixEngine
from specprof.errors import EnvironmentError_, UsageError
from specprof.records import BASELINE, Prompt, Request

SINGLES = [Prompt(id=f"s{i}", task="single", text="one two") for i in range(6)]


def by_job(session):
    return {(row["prompt_id"], row["sample"], row["arm"]): row for row in session.rows}


def assert_histories(session, repeats=1):
    """A word is a token: every arm is sent what the turn before was sent, the baseline's answer and its own words."""
    rows = by_job(session)
    for prompt in CONVERSATIONS:
        for sample in range(repeats):
            before = rows[prompt.follows, sample, BASELINE] if prompt.follows else None
            history = before["prompt_tokens"] + before["response_tokens"] if before else 0
            for arm in ARMS:
                assert rows[prompt.id, sample, arm.id]["prompt_tokens"] == history + prompt.turn + 2


def test_the_baselines_answer_stands_between_two_turns_for_every_arm(session):
    info = session.run([*CONVERSATIONS, *SINGLES], repeats=2, warmup=1)
    assert_histories(session, repeats=2)
    assert len(session.rows) == (len(CONVERSATIONS) + len(SINGLES)) * 2 * 2
    assert any("answers of the baseline" in note for note in info["notes"])


def test_messages_are_those_of_the_turns_and_the_answers_between(session):
    sent = {}

    class Watching(PrefixEngine):
        def generate(self, jobs):
            for job in jobs:
                (request,) = super().generate([job])
                sent[job.prompt.id, job.arm.id] = job.prompt.messages, request.output_text
                yield request

    session.run(talk("a"), Watching())
    (first, second, third) = (said(words)[0] for words in (2, 3, 4))
    answers = [{"role": "assistant", "content": sent[f"a-{turn}", BASELINE][1]} for turn in range(2)]
    assert sent["a-2", "sim"][0] == sent["a-2", BASELINE][0] == (first, answers[0], second, answers[1], third)


def test_turns_run_in_order_with_other_conversations_between(session):
    session.run([*CONVERSATIONS, *SINGLES], repeats=2)
    order = {}
    for (_, sample, _), row in by_job(session).items():
        order.setdefault((row["conversation_id"], sample), {})[row["block"]] = row["turn"]
    talks = [blocks for (name, _), blocks in order.items() if name]
    assert all([blocks[at] for at in sorted(blocks)] == list(range(TURNS)) for blocks in talks)
    assert any(max(blocks) - min(blocks) > TURNS for blocks in talks)


def test_an_engine_that_pulls_ahead_gets_other_jobs_while_a_turn_waits(session, prefetching):
    session.run([*CONVERSATIONS, *SINGLES], prefetching, repeats=2)
    assert_histories(session, repeats=2)
    assert len(session.keys) == len(set(session.keys)) == (len(CONVERSATIONS) + len(SINGLES)) * 2 * 2


def test_only_the_answers_that_turns_need_are_stored(session):
    session.run([*CONVERSATIONS, *SINGLES], warmup=1)
    kept = {row["prompt_id"] for row in session.rows if row["output_text"] is not None and row["arm"] == BASELINE}
    assert kept == {prompt.follows for prompt in CONVERSATIONS if prompt.follows}
    assert not any(row["output_text"] for row in session.rows if row["arm"] != BASELINE)
    assert not any(row[name] for row in session.rows for name in ("prompt_text", "prompt_ids", "output_ids"))


def test_text_that_was_asked_for_is_all_kept(session):
    session.run(talk("a"), save_text=True)
    assert all(row["output_text"] and row["prompt_text"] for row in session.rows)


@pytest.mark.parametrize("cut", range(1, 3 * TURNS, 2))
def test_an_interrupted_conversation_goes_on_with_the_same_answers(session, tmp_path, cut):
    def interrupt(request, done, total):
        if done == cut:
            raise KeyboardInterrupt

    whole = type(session)(tmp_path / "whole")
    whole.run(CONVERSATIONS)
    with pytest.raises(KeyboardInterrupt):
        session.run(CONVERSATIONS, on_request=interrupt)
    session.run(CONVERSATIONS, go_on=True)
    assert session.keys == whole.keys
    assert_histories(session)


class Losing(PrefixEngine):
    """Has no answer to the prompts `lost`, in the baseline only."""

    def __init__(self, lost):
        super().__init__()
        self.lost = lost

    def generate(self, jobs):
        for job in jobs:
            if job.prompt.id in self.lost and job.arm.id == BASELINE:
                yield Request.skipped(job, "too long", prompt_tokens=9)
            else:
                yield from super().generate([job])


def test_a_turn_whose_history_is_lost_is_skipped_with_its_reason(session):
    session.run(CONVERSATIONS, Losing({"a-0", "b-1"}), repeats=2)
    skipped = Counter((row["prompt_id"], row["arm"]) for row in session.rows if row["excluded"] == [(LOST, 1)])
    assert skipped == dict.fromkeys(((p, arm.id) for p in ("a-1", "a-2", "b-2") for arm in ARMS), 2)
    assert all(row["finish_reason"] == "skipped" for row in session.rows if row["excluded"])


def test_an_interrupted_run_remembers_that_an_answer_is_lost(session):
    def interrupt(request, done, total):
        if request.prompt_id == "a-0" and request.arm == BASELINE:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session.run(talk("a"), Losing({"a-0"}), on_request=interrupt)
    session.run(talk("a"), Losing({"a-0"}), go_on=True)
    assert len([row for row in session.rows if row["excluded"] == [(LOST, 1)]]) == 4


def test_until_takes_conversations_as_wholes(session):
    outcome = session.run(CONVERSATIONS, until=2)["until"]
    assert outcome["clusters"] == {"talk": {"0-128": 2}}
    assert Counter(row["conversation_id"] for row in session.rows).most_common()[-1][1] == 2 * TURNS
    assert len({row["conversation_id"] for row in session.rows}) == 2


def test_an_engine_without_text_cannot_hold_a_conversation(session):
    class Silent(PrefixEngine):
        def generate(self, jobs):
            return (request.with_(output_text=None) for request in super().generate(jobs))

    with pytest.raises(EnvironmentError_, match="no text of the baseline's answer to `a-0`"):
        session.run(talk("a"), Silent())
    assert session.rows


def test_a_conversation_without_answers_needs_the_baseline():
    with pytest.raises(UsageError, match="prompt `a-1` of `file:3`") as caught:
        plan([talk("a")[0], Prompt("a-1", "talk", messages=said(1), follows="a-0", place="file:3")], ARMS[:1])
    assert "--baseline" in caught.value.hint


@pytest.mark.parametrize(
    ("turns", "words"),
    [
        (talk("a")[1:], "`a-0` is not there"),
        ([Prompt("x", "t", messages=said(1), follows="y"), Prompt("y", "t", messages=said(1), follows="x")], "itself"),
        ([Prompt("x", "t", text="raw"), Prompt("y", "t", messages=said(1), follows="x")], "follows raw text"),
    ],
)
def test_a_turn_that_can_have_no_history_is_refused(turns, words):
    with pytest.raises(UsageError, match=words):
        plan(turns, ARMS)
