"""Builders of hand-made requests. A round keeps accepted + 1 tokens unless `emitted` says otherwise."""

from itertools import starmap

import pytest

from specprof.analysis.frame import Frame
from specprof.records import Request, Round
from specprof.store.schema import rows


def _request(id, drafted=(), accepted=(), *, emitted=None, rounds=None, **values):
    emitted = [a + 1 for a in accepted] if emitted is None else emitted
    rounds = tuple(starmap(Round, zip(drafted, drafted, accepted, emitted, strict=True))) if rounds is None else rounds
    total = values.get("first_tokens", 0) + sum(r.emitted for r in rounds)
    plain = {"prompt_id": id, "arm": "spec", "task": "chat", "prompt_tokens": 10, "response_tokens": total}
    return Request(request_id=id, rounds=rounds, **(plain | values))


@pytest.fixture(scope="session")
def request_():
    return _request


@pytest.fixture(scope="session")
def table():
    return lambda *requests: rows(requests)


@pytest.fixture(scope="session")
def frame():
    return lambda *requests: Frame.of(rows(requests))
