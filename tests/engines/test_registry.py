import pytest

from specprof import engines
from specprof.engines.base import Engine
from specprof.errors import UsageError


@pytest.mark.parametrize("name", engines.BUILT_IN)
def test_every_built_in_engine_can_be_created(name):
    if name == "huggingface":
        pytest.importorskip("torch", reason="needs the extra `hf`")
    assert isinstance(engines.create(name), Engine)


def test_an_unknown_engine_is_named_with_the_nearest():
    with pytest.raises(UsageError, match="unknown engine `simulated-prefx`") as caught:
        engines.create("simulated-prefx")
    assert caught.value.hint == "did you mean `simulated-prefix`?"
