import pytest

from specprof.records import Round

IDENTITY = {"request_id": "r0", "prompt_id": "p0", "arm": "sd", "task": "code"}


@pytest.fixture
def identity():
    """Fields that every request begins with; `identity(7)` is request r7 of prompt p7."""
    return lambda number: IDENTITY | {"request_id": f"r{number}", "prompt_id": f"p{number}"}


@pytest.fixture
def three_of_five():
    """A round: five drafted, three accepted, four emitted."""
    return Round(5, 5, 3, 4)
