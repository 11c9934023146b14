"""One run folder with hand-made requests: r1 and r2 finished, as (proposed, drafted, accepted, emitted) rounds."""

import pytest

from specprof.records import Request, Round
from specprof.store.run import create


@pytest.fixture
def request_of():
    """`request_of(7)` is request r7 of prompt p7 with two rounds: 3 of 5 kept, then 5 of 5 and EOS inside."""

    def build(number, **changes):
        rounds = (Round(5, 5, 3, 4), Round(5, 5, 5, 5))
        values = {"request_id": f"r{number}", "prompt_id": f"p{number}", "arm": "sd", "task": "code"}
        return Request(**({**values, "prompt_tokens": 9, "response_tokens": 9, "rounds": rounds} | changes))

    return build


@pytest.fixture
def run_dir(tmp_path):
    """A run called `demo`, being written by this process."""
    with create(tmp_path / "run", {"run_id": "demo"}):
        yield tmp_path / "run"


@pytest.fixture
def spooled():
    """Append whole requests to a writer."""

    def append(writer, *requests):
        for key, request in enumerate(requests):
            identity = {name: getattr(request, name) for name in ("request_id", "prompt_id", "arm", "task")}
            writer.begin(key, identity)
            for round in request.rounds:
                writer.round(key, round)
            if request.complete:
                writer.end(key, {"prompt_tokens": 9, "response_tokens": request.response_tokens})

    return append
