"""How a calibration is printed: per context the plain step, each drafter's costs, and the table of widths."""

from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any

from specprof.analysis.calibration import costs_from
from specprof.analysis.cost import Costs
from specprof.records import CostSample
from specprof.report.cells import interval, number

HEAD = ("", "α", "α₀", "β", "φ", "ψ")
UNIT = "In plain decode steps of the target, with 95 % intervals of the median over repeats. α: one drafted token; α₀: a draft"
MORE = "whatever its length; β: one more position verified, at this k; φ: the rest of a round; ψ: once per request; v(w): a"
LAST = "verification of w drafted tokens. A round costs v(w) + α·p + α₀ + φ."


def lines(document: Mapping[str, Any]) -> Iterator[str]:
    """The table of a document `specprof.costs/1`, at most 100 columns wide."""
    samples = [CostSample(**sample) for occasion in document["occasions"] for sample in occasion["samples"]]
    arms = document["arms"]
    costs = {id: costs_from(samples, arm, arms) for id, arm in arms.items() if arm["method"] != "none"}
    for place, (context, batch) in enumerate(dict.fromkeys((sample.context, sample.batch) for sample in samples)):
        here = {
            id: found
            for id, every in costs.items()
            for found in every
            if (found.context, found.batch) == (context, batch)
        }
        yield from ([""] if place else [])
        yield _title([sample for sample in samples if sample.kind == "plain" and sample.context == context], context)
        yield from _rows(here, arms)
