"""From intervals to a decision: does speculation pay here, and on what does the answer rest?"""

from specprof.analysis.estimate import Estimate, clusters_to_settle, settled_by

MARGIN = {"measured": 0.02, "cost": 0.05}  # speed-ups nearer to 1 than this are not worth acting on
ENOUGH = 20  # clusters from which an interval is trusted to be undecided
SETTLED = ("enable", "disable", "neutral")


def decide(speedup: Estimate, margin: float) -> str:
    """`undecided` where the interval straddles 1 ± margin or where there is none."""
    if speedup.low is None or speedup.high is None:
        return "undecided"
    if speedup.low > 1 + margin:
        return "enable"
    if speedup.high < 1 - margin:
        return "disable"
    return "neutral" if 1 - margin <= speedup.low and speedup.high <= 1 + margin else "undecided"


def judge(measured: Estimate | None, cost: Estimate | None) -> tuple[str, str | None]:
    """The verdict and its basis; None for what the run does not have. A measured pair goes before the model, unless it
    is both small and undecided."""
    if measured is None or measured.value is None:
        return ("unpriced", None) if cost is None else (decide(cost, MARGIN["cost"]), "cost")
    verdict = decide(measured, MARGIN["measured"])
    if verdict in SETTLED or (measured.n or 0) >= ENOUGH or cost is None:
        return verdict, "measured"
    return decide(cost, MARGIN["cost"]), "cost"


def what_would_settle(speedup: Estimate, margin: float) -> str:
    """One sentence for an undecided speed-up."""
    if speedup.value is None or speedup.low is None:
        return f"no interval for the speed-up: {speedup.reason}"
    bound = 1 + margin if speedup.value > 1 else 1 - margin
    more = clusters_to_settle(speedup, bound)
    if more is None or more > 1_000_000:
        return f"the speed-up sits on {bound:g}: no number of clusters settles that"
    return settled_by(more)
