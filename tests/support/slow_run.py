"""Run or go on with a simulated run whose rounds take wall time, so that a test can kill it.

usage: slow_run.py RUN [whole | until | talk]    (until: stops with enough clusters; talk: conversations)
"""

import sys
import time
from pathlib import Path

from specprof.capture.plan import plan
from specprof.capture.session import Spec, execute
from specprof.engines.simulated import PrefixEngine
from specprof.records import BASELINE, Arm, EngineConfig, Job, Prompt

ARMS = (Arm(id="sim", method="simulated", k=3, temperature=1.0), Arm(id=BASELINE, method="none", temperature=1.0))
PROMPTS = tuple(Prompt(id=f"p{i}", task=("code", "chat")[i % 2], text="one two three") for i in range(20))
ENOUGH = 6
TURNS = 3


def said(words):
    return ({"role": "user", "content": " ".join(["word"] * words)},)


def talk(name, turns=TURNS):
    """A conversation whose turn t has t + 2 words."""
    return tuple(
        Prompt(
            id=f"{name}-{turn}",
            task="talk",
            messages=said(turn + 2),
            conversation_id=name,
            turn=turn,
            follows=f"{name}-{turn - 1}" if turn else None,
        )
        for turn in range(turns)
    )


CONVERSATIONS = tuple(prompt for name in "abcd" for prompt in talk(name))


class SlowEngine(PrefixEngine):
    def generate(self, jobs):
        return super().generate(map(self._slowed, jobs))

    def _slowed(self, job):
        def on_round(step):
            job.on_round(step)
            time.sleep(0.012)

        return Job(**{name: getattr(job, name) for name in job.__slots__ if name != "on_round"}, on_round=on_round)


def spec(kind):
    prompts = CONVERSATIONS if kind == "talk" else PROMPTS
    repeats = 1 if kind == "until" else 2
    config = EngineConfig(arms=ARMS, max_tokens=48)
    jobs = plan(prompts, ARMS, repeats=repeats, max_tokens=48)
    until = ENOUGH if kind == "until" else None
    return Spec("slow", config, jobs, {"sha256": f"of {kind}"}, repeats=repeats, until=until)


def main():
    folder, kind = Path(sys.argv[1]), (sys.argv[2:] or ["whole"])[0]
    execute(SlowEngine(), spec(kind), folder, go_on=(folder / "run.json").exists())


if __name__ == "__main__":
    main()
