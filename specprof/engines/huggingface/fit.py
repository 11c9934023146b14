"""Whether the models of a run can be assisted, and whether those of each arm fit; no weights are read."""

from functools import cache

from specprof.engines.huggingface.methods import METHODS
from specprof.engines.huggingface.model import Model, check_model
from specprof.engines.huggingface.pairs import CHECKS
from specprof.engines.huggingface.preflight import read_config, read_tokenizer, trusts
from specprof.engines.huggingface.vocabulary import Vocabulary
from specprof.records import EngineConfig


def check_models(config: EngineConfig) -> None:
    """Read the configurations and tokenizers of the target and of every draft. Raises `UsageError`."""
    remote = trusts(config)
    assert config.model is not None
    target = Model(config.model, read_config(config.model, remote))
    check_model(target)

    @cache
    def vocabulary(name: str, size: int) -> Vocabulary:
        return Vocabulary(name, size, read_tokenizer(name, remote))

    for arm in config.arms:
        draft = None
        if METHODS[arm.method].draft:
            assert arm.draft is not None
            draft = Model(arm.draft, read_config(arm.draft, remote))
        if check := CHECKS.get(arm.method):
            check(arm, target, draft, lambda model: vocabulary(model.name, model.text.vocab_size))
