"""One row of the report from one selection of requests."""

from collections.abc import Collection, Sequence

from specprof.analysis import flags, metrics, speedup
from specprof.analysis.buckets import Cell
from specprof.analysis.contract import BucketReport, Cost, Rule
from specprof.analysis.cost import Costs
from specprof.analysis.decision import decided, unjudged
from specprof.analysis.estimate import Estimate
from specprof.analysis.frame import Frame
from specprof.analysis.latency import latency
from specprof.analysis.measured import measure
from specprof.analysis.positions import count_positions, survival
from specprof.analysis.price import Priced, beyond, price
from specprof.analysis.round_times import time_per_round

NO_COSTS = "no costs: pass --alpha and --beta, or measure them"


def bucket(
    frame: Frame,
    baseline: Frame | None,
    costs: Sequence[Costs] = (),
    *,
    cell: Cell = Cell(),  # noqa: B008 - immutable
    paired: Frame | None = None,
    raised: Collection[str] = (),
    reference: bool = False,
) -> BucketReport:
    """The report row of the requests in `frame`; unfinished and skipped ones are counted apart.

    `baseline` holds the plain-decoding requests to compare with, None in a run without that arm. `paired` are the
    requests to compare with it where they are not those of `frame` (cells by response length go by the baseline's).
    `costs` are those of each regime; none leave the row unpriced. `raised` are flags of the arm as a whole.
    `reference`: this is the baseline arm itself.
    """
    counted = frame.select(frame.counted)
    compared = (counted if paired is None else paired.select(paired.counted)).requests
    plain = None if baseline is None else baseline.requests.take(baseline.counted)
    accepted, tokens, rate = (
        metrics.mean_accepted(counted),
        metrics.tokens_per_round(counted),
        metrics.acceptance_rate(counted),
    )
    no_price = beyond(counted, costs) if costs else NO_COSTS
    priced, unpriced = (None if no_price else price(counted, costs)), Estimate.missing(no_price or "")
    rule, cost = _rule(counted, accepted, priced, unpriced), _cost(counted, priced, unpriced)
    measured = None if plain is None else measure(compared, plain)
    every = flags.of_requests(counted, priced, plain, compared) | set(raised)
    decision = unjudged(frame, every) if reference else decided(frame, rule, cost, measured, tokens, every)
    sums, positions = counted.sums, count_positions(counted.rounds)
    return BucketReport(
        task=cell.task,
        prompt=cell.prompt,
        response=cell.response,
        labels=dict(cell.labels),
        requests=len(counted),
        clusters=counted.clusters,
        rounds=int(sums.rounds.sum()),
        proposed=int(sums.proposed.sum()),
        drafted=int(sums.drafted.sum()),
        accepted=int(sums.accepted.sum()),
        emitted=int(sums.emitted.sum()),
        regenerations=int(sums.regenerations.sum()),
        censored=int(sums.censored.sum()),
        excluded=_excluded(frame),
        mean_accepted=accepted,
        mean_accepted_drafting=metrics.mean_accepted_drafting(counted),
        mean_accepted_per_request=metrics.mean_accepted_per_request(counted),
        mean_accepted_capped=metrics.mean_accepted_capped(counted),
        tokens_per_round=tokens,
        acceptance_rate=rate,
        draft_coverage=metrics.draft_coverage(counted),
        accepted_p10=metrics.accepted_quantile(counted, 0.1),
        accepted_p50=metrics.accepted_quantile(counted, 0.5),
        accepted_p90=metrics.accepted_quantile(counted, 0.9),
        accepted_p99=metrics.accepted_quantile(counted, 0.99),
        survival=survival(counted, positions),
        reached=tuple(positions.reached.tolist()),
        rule=rule,
        cost=cost,
        cost_per_round=unpriced if priced is None else speedup.cost_per_round(counted, priced),
        measured=measured,
        latency=latency(counted),
        time_per_round=time_per_round(counted, plain),
        affordable_overhead=rate,
        below_break_even=unpriced if priced is None else speedup.below_break_even(counted, priced),
        largest_request_share=metrics.largest_request_share(counted),
        verdict=decision.verdict,
        basis=decision.basis,
        flags=decision.flags,
        notes=decision.notes,
    )


def _rule(frame: Frame, accepted: Estimate, priced: Priced | None, unpriced: Estimate) -> Rule:
    threshold = unpriced if priced is None else speedup.rule_threshold(frame, priced)
    return Rule(threshold, None if threshold.value is None else accepted.above(threshold.value))


def _cost(frame: Frame, priced: Priced | None, unpriced: Estimate) -> Cost:
    if priced is None:
        return Cost(unpriced, unpriced, None, None)
    gain = speedup.speedup(frame, priced)
    return Cost(speedup.cost_threshold(frame, priced), gain, gain.above(1), priced.regime)


def _excluded(frame: Frame) -> dict[str, int]:
    """Rounds and requests left out, by reason, over finished and skipped requests."""
    totals = {reason: int(counts[frame.requests.complete].sum()) for reason, counts in frame.excluded.items()}
    return {reason: count for reason, count in totals.items() if count}
