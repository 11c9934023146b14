"""Run or go on with a simulated run whose rounds take wall time, so that a test can kill it. usage: slow_run.py RUN"""

import sys
import time
from pathlib import Path

from specprof.capture.plan import plan
from specprof.capture.session import Spec, execute
from specprof.engines.simulated import PrefixEngine
from specprof.records import BASELINE, Arm, EngineConfig, Job, Prompt

ARMS = (Arm(id="sim", method="simulated", k=3, temperature=1.0), Arm(id=BASELINE, method="none", temperature=1.0))
PROMPTS = tuple(Prompt(id=f"p{i}", task=("code", "chat")[i % 2], text="one two three") for i in range(20))


class SlowEngine(PrefixEngine):
    def generate(self, jobs):
        return super().generate(map(self._slowed, jobs))

    def _slowed(self, job):
        def on_round(step):
            job.on_round(step)
            time.sleep(0.012)

        return Job(**{name: getattr(job, name) for name in job.__slots__ if name != "on_round"}, on_round=on_round)


def main():
    folder = Path(sys.argv[1])
    config = EngineConfig(arms=ARMS, max_tokens=48)
    jobs = plan(PROMPTS, ARMS, samples=2, max_tokens=48)
    spec = Spec("slow", config, jobs, {"sha256": "of the prompts"}, samples=2)
    execute(SlowEngine(), spec, folder, go_on=(folder / "run.json").exists())


if __name__ == "__main__":
    main()
