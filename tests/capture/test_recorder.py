from dataclasses import replace

import pytest

from specprof.capture.plan import plan
from specprof.capture.recorder import Recorder
from specprof.errors import EnvironmentError_
from specprof.records import Arm, Prompt, Request, Round
from specprof.spool import SpoolWriter, read_requests, scan_segment
from specprof.store.schema import rows

LIVE = (Round(4, 4, 2, 3), Round(4, 4, 0, 1))


@pytest.fixture
def spooled(tmp_path):
    """`finish(job) -> Request` is played by the test; returns what the spool holds afterwards."""

    def record(finish):
        (planned,) = plan([Prompt(id="p", task="t", text="x", labels={"a": "b"})], [Arm(id="arm", method="m", k=4)])
        with SpoolWriter(tmp_path, "w1") as spool:
            recorder = Recorder(spool, "w1")
            for job in recorder.jobs([(planned, "measure")]):
                recorder.end(finish(job))
        return read_requests(scan_segment(path) for path in sorted(tmp_path.glob("*.seg")))

    return record


def request(job, rounds=LIVE, **values):
    return Request.of(job, **({"prompt_tokens": 3, "response_tokens": 4, "rounds": rounds} | values))


def live(job, *rounds):
    for step in rounds:
        job.on_round(step)


def test_live_rounds_are_written_once(spooled):
    (found,) = spooled(lambda job: (live(job, *LIVE), request(job))[1])
    assert (found.rounds, found.complete, found.request_id) == (LIVE, True, "w1-0")
    assert (found.block, found.arm_order, found.writer, found.labels) == (0, 0, "w1", {"a": "b", "template": "raw"})
    assert found.load_1m is not None


def test_rounds_that_were_never_shown_are_written_at_the_end(spooled):
    (found,) = spooled(request)
    assert (found.rounds, found.complete) == (LIVE, True)


def test_times_that_came_late_replace_what_was_shown_live(spooled):
    timed = tuple(replace(step, draft_us=5, verify_us=50) for step in LIVE)
    (found,) = spooled(lambda job: (live(job, *LIVE), request(job, timed))[1])
    assert (found.rounds, found.complete) == (timed, True)


def test_a_request_that_never_ends_stays_unfinished_with_its_rounds(tmp_path):
    (planned,) = plan([Prompt(id="p", task="t", text="x")], [Arm(id="arm", method="m", k=4)])
    with SpoolWriter(tmp_path, "w1") as spool:
        job = next(Recorder(spool, "w1").jobs([(planned, "measure")]))
        live(job, *LIVE)
        (found,) = read_requests(scan_segment(path) for path in tmp_path.glob("*.seg"))
    assert (found.complete, found.rounds, found.response_tokens, found.prompt_id) == (False, LIVE, 4, "p")


def test_what_is_known_of_each_drafted_token_stays_with_its_round(spooled):
    detailed = (
        Round(2, 2, 0, 1, confidence=(0.5, 0.25), target_prob=(0.75, 0.0), draft_ids=(7, 50_000)),
        Round(0, 0, 0, 1, confidence=(), target_prob=(), draft_ids=()),
        Round(1, 1, 1, 2, confidence=(1.0,), target_prob=None, draft_ids=(9,)),
    )
    (found,) = spooled(lambda job: (live(job, *detailed), request(job, detailed))[1])
    assert found.rounds == detailed
    (row,) = rows([found]).to_pylist()
    assert (row["proposed"], row["confidence"]) == ([2, 0, 1], [0.5, 0.25, 1.0])  # flat, offsets by proposed
    assert (row["target_prob"], row["draft_ids"]) == ([0.75, 0.0, None], [7, 50_000, 9])


TEXT = {"prompt_text": "q", "output_text": "a", "prompt_ids": (1,), "output_ids": (2,)}


def test_text_that_nobody_asked_for_is_never_written(spooled):
    (found,) = spooled(lambda job: request(job, **TEXT))
    assert {name: getattr(found, name) for name in TEXT} == dict.fromkeys(TEXT)


def test_a_job_that_no_engine_sees_is_recorded_with_its_reason(tmp_path):
    (planned,) = plan([Prompt(id="p", task="t", text="x")], [Arm(id="arm", method="m", k=4)])
    with SpoolWriter(tmp_path, "w1") as spool:
        Recorder(spool, "w1").skip(planned, "no history")
        (found,) = read_requests(scan_segment(path) for path in tmp_path.glob("*.seg"))
    assert (found.complete, found.finish_reason, found.excluded) == (True, "skipped", {"no history": 1})


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"response_tokens": 5}, "5 response tokens, but 0 first tokens and the rounds make 4"),
        ({"rounds": (Round(4, 4, 5, 4),)}, "accepted 5"),
        ({"rounds": (Round(4, 4, 2, 2), Round(4, 4, 1, 2))}, "only the last can be cut"),
    ],
)
def test_an_engine_that_miscounts_is_stopped_with_the_request_named(spooled, values, words):
    with pytest.raises(EnvironmentError_, match=words) as caught:
        spooled(lambda job: request(job, **values))
    assert "`w1-0`" in str(caught.value)
