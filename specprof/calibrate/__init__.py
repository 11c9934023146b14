"""What the parts of a round cost on this machine: measured round a run, kept in its `run.json`, or in a file for later.

An occasion is `{"when", "at", "load_1m", "samples": [CostSample as dict, …]}`, with "error" where it ended early.
`measure(run, engine, config, prompts, when)` adds one to a run; `calibrate(engine, config, prompts)` makes a document
`specprof.costs/1`, which `save_costs` and `read_costs` know; `adopt(file, info)` turns its occasions into those of a
run, or refuses; `differences(file, info)` only says why it would, `refuse_early` what is known before weights load.
"""

from specprof.calibrate.alone import calibrate
from specprof.calibrate.file import CostFile, read_costs, save_costs
from specprof.calibrate.occasion import REPEATS, keep, measure
from specprof.calibrate.reuse import adopt, differences, refuse_early

__all__ = [
    "REPEATS",
    "CostFile",
    "adopt",
    "calibrate",
    "differences",
    "keep",
    "measure",
    "read_costs",
    "refuse_early",
    "save_costs",
]
