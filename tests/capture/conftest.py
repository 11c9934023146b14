from itertools import islice

import pytest

from specprof.capture.plan import plan
from specprof.capture.session import Spec, execute
from specprof.engines.simulated import PrefixEngine
from specprof.records import BASELINE, Arm, EngineConfig
from specprof.store.read import read_run

SAMPLED = (Arm(id="sim", method="simulated", k=3, temperature=1.0), Arm(id=BASELINE, method="none", temperature=1.0))


class Session:
    """Runs into `folder`, again with `go_on`, and reads what was measured."""

    def __init__(self, folder):
        self.folder = folder

    def spec(self, prompts, *, repeats=1, until=None, warmup=0, arms=SAMPLED, max_tokens=8, **config):
        settings = EngineConfig(arms=arms, max_tokens=max_tokens, **config)
        fixed = settings.fixed_length
        jobs = plan(prompts, arms, repeats=repeats, max_tokens=max_tokens, fixed_length=fixed)
        return Spec("simulated", settings, jobs, {"sha256": "x"}, repeats=repeats, until=until, warmup=warmup)

    def run(self, prompts, engine=None, *, go_on=False, on_request=None, **asked):
        spec = self.spec(prompts, **asked)
        return execute(engine or PrefixEngine(), spec, self.folder, go_on=go_on, on_request=on_request)

    @property
    def rows(self):
        """Complete measured requests."""
        rows = read_run(self.folder).table.to_pylist()
        return [row for row in rows if row["phase"] == "measure" and row["complete"]]

    @property
    def keys(self):
        return sorted((row["prompt_id"], row["sample"], row["arm"]) for row in self.rows)


@pytest.fixture
def session(tmp_path):
    return Session(tmp_path / "run")


class Prefetching(PrefixEngine):
    """Takes four jobs before it answers the first, and answers in reverse order."""

    def generate(self, jobs):
        waiting = iter(jobs)
        while batch := list(islice(waiting, 4)):
            yield from super().generate(reversed(batch))


@pytest.fixture
def prefetching():
    return Prefetching()
