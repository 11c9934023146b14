"""Every figure of a report on 2,000 simulated requests against the truth that the simulation obeys.

Two references, neither of which uses the package's arithmetic: exact expectations by dynamic programming over the
tokens that are left, and for what depends on a request's own distribution a plain re-simulation of 20,000 requests.
"""

import math
import random
from functools import cache

import numpy as np
import pytest

K, LONGEST, WORDS = 4, 64, 10
ALPHA, ALPHA_ROUND, BETA, PHI, STEP_MS = 0.1, 0.05, 0.02, 0.03, 20.0
ROUND_COST = (1 + BETA * K) + ALPHA * K + ALPHA_ROUND + PHI
MATCH = {"code": 0.75, "summarise": 0.85, "chat": 0.35, "other": 0.6}
SPREAD = 0.1
ENGINES = {"simulated-prefix": 1.0, "simulated-block": 0.85}
PER_TASK = 500


def outcomes(match, decay, left):
    """(probability, raw matches) of one round with `left` tokens still to come."""
    reach = 1.0
    for place in range(1, min(K, left) + 1):
        hazard = match * decay ** (place - 1)
        yield reach * (1 - hazard), place - 1
        reach *= hazard
    yield reach, min(K, left)


def expected_sums(match, decay, length):
    """Exact expectations per request of: rounds, accepted, regenerated, censored, at-risk and success per position."""

    @cache
    def total(left):
        sums = np.zeros(4 + 2 * K)
        if left == 0:
            return sums
        for probability, raw in outcomes(match, decay, left):
            emitted = min(raw + 1, left)
            accepted = min(raw, emitted)
            censored = emitted < accepted + 1
            here = np.zeros(4 + 2 * K)
            here[:4] = 1, accepted, accepted < K and not censored, censored
            for place in range(1, K + 1):
                here[3 + place] = accepted >= place or (accepted == place - 1 and not censored)
                here[3 + K + place] = accepted >= place
            sums = sums + probability * (here + total(left - emitted))
        return sums

    return total(length - 1)


def truth_sums(task, decay):
    """Averaged over the two match probabilities and the uniform response lengths of a task."""
    lengths = range(LONGEST // 2 + 1, LONGEST + 1)
    cases = [(MATCH[task] + sign * SPREAD, length) for sign in (-1, 1) for length in lengths]
    return sum(np.append(expected_sums(match, decay, length), length - 1) for match, length in cases) / len(cases)


def simulate(task, decay, count, rng):
    """(rounds, accepted, response tokens) of `count` requests, by the rules of the docstring, written again."""
    rows = []
    for _ in range(count):
        match = MATCH[task] + rng.choice((-1, 1)) * SPREAD
        length = rng.randint(LONGEST // 2 + 1, LONGEST)
        left, rounds, accepted = length - 1, 0, 0
        while left:
            pick, raw = rng.random(), 0
            for probability, candidate in outcomes(match, decay, left):
                raw = candidate
                pick -= probability
                if pick < 0:
                    break
            emitted = min(raw + 1, left)
            rounds, accepted, left = rounds + 1, accepted + min(raw, emitted), left - emitted
        rows.append((rounds, accepted, length))
    return np.array(rows, dtype=float)


@pytest.fixture(scope="module", params=ENGINES)
def measured(request, tmp_path_factory):
    """(the report document as JSON, decay) of one run of 4 × 500 prompts with a baseline."""
    from specprof.analysis.cost import Costs
    from specprof.analysis.evaluate import RunData, document, to_dict
    from specprof.capture.plan import plan
    from specprof.capture.session import Spec, execute
    from specprof.engines import create
    from specprof.records import BASELINE, Arm, EngineConfig, Prompt
    from specprof.store.read import read_run

    arms = (Arm(id="sim", method="simulated", k=K), Arm(id=BASELINE, method="none"))
    prompts = [Prompt(id=f"{task}-{i}", task=task, text="word " * WORDS) for task in MATCH for i in range(PER_TASK)]
    config = EngineConfig(arms=arms, max_tokens=LONGEST, seed=7)
    jobs = plan(prompts, arms, seed=7, max_tokens=LONGEST)
    folder = tmp_path_factory.mktemp("truth") / "run"
    execute(create(request.param), Spec(request.param, config, jobs, {"sha256": "x"}), folder)
    run = read_run(folder)
    costs = Costs(alpha=ALPHA, beta=BETA, alpha_round=ALPHA_ROUND, phi=PHI)
    report = to_dict(document([RunData(run.info, run.state, run.table)], costs=costs))
    return report, ENGINES[request.param]


@pytest.fixture(scope="module")
def arm(measured):
    (arm,) = measured[0]["arms"]
    return arm


def assert_near(estimate, truth, errors=4.5):
    """Within `errors` standard errors, read off the estimate's own 95 % interval, which must not be wide."""
    half = (estimate["high"] - estimate["low"]) / 2
    assert 0 < half < 0.12 * truth
    assert abs(estimate["value"] - truth) <= errors * half / 1.96, (estimate, truth)


def test_counts_are_those_of_the_plan(arm):
    overall = arm["overall"]
    assert overall["requests"] == overall["clusters"] == 4 * PER_TASK
    assert overall["drafted"] == overall["proposed"] == K * overall["rounds"]
    assert {row["task"]: row["requests"] for row in arm["tasks"]} == dict.fromkeys(MATCH, PER_TASK)
    assert overall["excluded"] == {}
    assert overall["draft_coverage"]["value"] == 1.0


@pytest.mark.parametrize("task", [*MATCH, None])
def test_ratios_agree_with_exact_expectations(measured, arm, task):
    decay = measured[1]
    tasks = MATCH if task is None else [task]
    sums = sum(truth_sums(name, decay) for name in tasks) / len(tasks)
    rounds, accepted, regenerated, censored, tokens = *sums[:4], sums[-1]
    row = arm["overall"] if task is None else next(row for row in arm["tasks"] if row["task"] == task)
    assert_near(row["mean_accepted"], accepted / rounds)
    assert_near(row["mean_accepted_drafting"], accepted / rounds)
    assert_near(row["tokens_per_round"], tokens / rounds)
    assert_near(row["acceptance_rate"], accepted / rounds / K)
    assert_near(row["affordable_overhead"], accepted / rounds / K)
    assert_near(row["cost"]["speedup"], tokens / (rounds * ROUND_COST))
    assert_near(row["measured"]["decode"], tokens / (rounds * ROUND_COST))
    ttft = WORDS * 0.1 / STEP_MS + 1  # in steps; the baseline decodes one token per step
    assert_near(row["measured"]["e2e"], (ttft + tokens) / (ttft + rounds * ROUND_COST))
    assert_near(row["cost"]["threshold"], (rounds * ROUND_COST - tokens + accepted) / rounds)
    assert row["rule"]["threshold"]["value"] == pytest.approx(1 + ALPHA + BETA)
    n = row["requests"]
    assert row["emitted"] / n == pytest.approx(tokens, rel=0.03)
    assert row["regenerations"] / n == pytest.approx(regenerated, rel=0.08)
    assert row["censored"] / n == pytest.approx(censored, abs=4.5 * math.sqrt(0.25 / n))


@pytest.mark.parametrize("task", MATCH)
def test_survival_agrees_with_exact_hazards(measured, arm, task):
    decay = measured[1]
    sums = truth_sums(task, decay)
    at_risk, success = sums[4 : 4 + K], sums[4 + K : 4 + 2 * K]
    row = next(row for row in arm["tasks"] if row["task"] == task)
    survival = np.cumprod(success / at_risk)
    for place in range(K):
        # design effect of at most 4 for rounds that share a request's match probability
        error = 2 * math.sqrt(survival[place] * (1 - survival[place]) / (at_risk[0] * PER_TASK))
        assert row["survival"][place]["value"] == pytest.approx(survival[place], abs=4.5 * error)
        assert row["reached"][place] / PER_TASK == pytest.approx(at_risk[place], rel=0.08)


@pytest.mark.parametrize("task", MATCH)
def test_figures_of_single_requests_agree_with_a_re_simulation(measured, arm, task):
    row = next(row for row in arm["tasks"] if row["task"] == task)
    rounds, accepted, length = simulate(task, measured[1], 20_000, random.Random(11)).T
    per_request = accepted / rounds
    assert_near(row["mean_accepted_per_request"], per_request.mean())
    weight = np.minimum(1, 4 * np.median(rounds) / rounds)
    assert_near(row["mean_accepted_capped"], (weight * accepted).sum() / (weight * rounds).sum())
    speedup = (length - 1) / (rounds * ROUND_COST)
    losing = (speedup < 1).mean()
    assert row["below_break_even"]["value"] == pytest.approx(losing, abs=4.5 * math.sqrt(0.25 / PER_TASK))
    tpot = rounds * ROUND_COST * STEP_MS / (length - 1)
    ttft = WORDS * 0.1 + STEP_MS
    for name, values in (("accepted", per_request), ("tpot", tpot), ("e2e", ttft + tpot * (length - 1))):
        for percent in (10, 50, 90, 99) if name == "accepted" else (50, 90, 99):
            q, spread = percent / 100, 4.5 * math.sqrt(percent * (100 - percent) / PER_TASK) / 100
            low, high = np.quantile(values, [max(q - spread, 0), min(q + spread, 1)])
            found = row[f"accepted_p{percent}"] if name == "accepted" else row["latency"][f"{name}_ms"][f"p{percent}"]
            assert low - 1e-9 <= found["value"] <= high + 1e-9, (name, percent)
    assert row["latency"]["ttft_ms"]["p50"]["value"] == pytest.approx(ttft)
    assert row["largest_request_share"] == pytest.approx(rounds.max() / rounds.mean() / PER_TASK, rel=0.25)


def test_arms_that_share_their_answers_have_equal_latency_ratios(arm):
    measured = arm["overall"]["measured"]
    assert measured["ttft_ratio"]["value"] == pytest.approx(1.0)
    assert measured["decode"]["value"] == pytest.approx(arm["overall"]["cost"]["speedup"]["value"], rel=1e-6)


def test_verdicts_follow_the_truth(arm):
    verdicts = {row["task"]: row["verdict"] for row in arm["tasks"]}
    assert verdicts["summarise"] == verdicts["code"] == "enable"
    assert {row["basis"] for row in arm["tasks"]} == {"measured"}
    assert verdicts["chat"] in ("disable", "neutral", "undecided")
