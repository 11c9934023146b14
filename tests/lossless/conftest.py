"""An engine whose target is a table of next-token probabilities, and whose arms may cheat."""

import random
from types import SimpleNamespace

import numpy as np
import pytest

from specprof.records import Arm, Capabilities, EngineConfig, Prompt, Request, Round

EOS = 0
TABLE = np.array([[0.1, 0.2, 0.3, 0.4], [0.05, 0.6, 0.25, 0.1], [0.1, 0.2, 0.4, 0.3], [0.2, 0.3, 0.1, 0.4]])


class TableEngine:
    """The next token depends on the last one, the first on the prompt's id.

    An arm of method "lossless" draws as the target does; "flat" draws evenly with chance .3; "silent" drafts nothing;
    "long" never ends before the limit; "last" takes the least likely token.
    """

    capabilities = Capabilities(methods=("none", "lossless", "flat", "silent", "long"))
    scores_off = False

    def check(self, config):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        pass

    def describe(self):
        return {"engine": "table", "dtype": "float32"}

    def generate(self, jobs):
        for job in jobs:
            ids = self._answer(job, random.Random(job.seed))
            kept = 0 if job.arm.method in ("none", "silent") else len(ids) - 1
            rounds = (Round(proposed=kept, drafted=kept, accepted=kept, emitted=len(ids)),) if kept else ()
            reason = "eos" if ids[-1] == EOS else "length"
            yield Request.of(
                job,
                prompt_tokens=1,
                response_tokens=len(ids),
                output_ids=ids,
                finish_reason=reason,
                rounds=rounds,
            )

    def _answer(self, job, rng):
        ids, last = [], int(job.prompt.id) % 4
        while len(ids) < job.max_tokens and (not ids or ids[-1] != EOS):
            weights = TABLE[last].copy()
            if job.arm.method == "flat" and rng.random() < 0.3:
                weights[:] = 0.25
            if job.arm.method == "long":
                weights[EOS] = 0
            if job.arm.method == "last":
                weights = -weights
            last = rng.choices(range(4), weights)[0] if job.arm.temperature else int(weights.argmax())
            ids.append(last)
        return tuple(ids)

    def score(self, prompt, output_ids):
        rows = np.log(TABLE[[int(prompt.id) % 4, *output_ids]]).astype(np.float32)
        return rows[:, ::-1] if self.scores_off else rows


@pytest.fixture
def table():
    prompts = [Prompt(id=str(index), task="t", text="x") for index in range(4)]

    def config(*methods, temperature=1.0, **settings):
        names = ["baseline", *methods]
        arms = [Arm(id=n, method=n.replace("baseline", "none"), k=3, temperature=temperature) for n in names]
        return EngineConfig(arms=tuple(arms), save_text=True, **({"max_tokens": 6} | settings))

    return SimpleNamespace(Engine=TableEngine, prompts=prompts, config=config)


@pytest.fixture
def answer():
    def make(ids=None, arm="arm", prompt="p", **settings):
        length = len(ids) if ids is not None else 3
        defaults = {"task": "t", "prompt_tokens": 1, "response_tokens": length, "finish_reason": "eos"}
        ids = None if ids is None else tuple(ids)
        return Request(request_id="r", prompt_id=prompt, arm=arm, output_ids=ids, **(defaults | settings))

    return make
