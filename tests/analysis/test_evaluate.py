import itertools
import json
import random

import pytest

from specprof.analysis.cost import Costs
from specprof.analysis.evaluate import RunData, document, to_dict
from specprof.errors import UsageError
from specprof.records import Arm

COSTS = Costs(alpha=0.1, beta=0.02)
V = {"value", "low", "high", "n", "reason"}
B = {
    *("task", "prompt", "response", "labels", "requests", "clusters", "rounds", "proposed", "drafted", "accepted"),
    *("emitted", "regenerations", "censored", "excluded", "mean_accepted", "mean_accepted_drafting"),
    *("mean_accepted_per_request", "mean_accepted_capped", "tokens_per_round", "acceptance_rate", "draft_coverage"),
    *("accepted_p10", "accepted_p50", "accepted_p90", "accepted_p99", "survival", "reached", "rule", "cost"),
    *(
        "cost_per_round",
        "measured",
        "latency",
        "time_per_round",
        "affordable_overhead",
        "below_break_even",
        "largest_request_share",
    ),
    *("verdict", "basis", "flags", "notes"),
}


@pytest.fixture(scope="session")
def requests(request_):
    """Three prompts, each in both arms: a short and a long code prompt, one chat prompt in Korean."""
    places = [("p", "code", 100, "en"), ("q", "code", 600, "en"), ("r", "chat", 100, "ko")]
    made = []
    for prompt, task, length, language in places:
        shared = {"prompt_id": prompt, "task": task, "prompt_tokens": length, "labels": {"language": language}}
        times = {"first_chunk_tokens": 1, "ttft_us": 100}
        made.append(request_(f"s-{prompt}", [5, 5, 2], [5, 1, 2], **shared, **times, latency_us=700))
        made.append(request_(f"b-{prompt}", arm="baseline", response_tokens=11, **shared, **times, latency_us=1300))
    return made


@pytest.fixture(scope="session")
def run(table, requests):
    def build(run_id="run-1", rows=requests, **more):
        arms = {a.id: a.to_dict() for a in (Arm("baseline", "none"), Arm("spec", "draft_model", "tiny", k=5))}
        info = {"run_id": run_id, "engine": "simulated", "engine_version": "1", "target": "big", "arms": arms, **more}
        return RunData(info=info, state="complete", table=table(*rows))

    return build


def test_the_document_holds_every_key_of_the_contract(run):
    whole = to_dict(document([run()], costs=COSTS))
    assert list(whole) == ["schema", "runs", "arms"]
    assert whole["schema"] == "specprof.report/1"
    assert {"run_id", "engine", "engine_version", "target", "draft", "state"} <= set(whole["runs"][0])
    (arm,) = whole["arms"]
    assert set(arm) == {
        *("arm", "run_id", "method", "draft", "k", "schedule", "threshold", "options", "temperature", "concurrency"),
        *("costs", "overall", "tasks", "buckets"),
    }
    assert (arm["arm"], arm["method"], arm["draft"], arm["k"], arm["temperature"]) == (
        *("spec", "draft_model", "tiny", 5, 0.0),
    )
    for row in (arm["overall"], *arm["tasks"], *arm["buckets"]):
        assert set(row) == B
    keys = ["regime", "alpha", "alpha_round", "beta", "phi", "per_request", "widths", "context", "batch", "source"]
    keys += ["step_ms"]
    assert list(arm["costs"][0]) == keys


def test_the_types_of_a_row(run):
    row = to_dict(document([run()], costs=COSTS))["arms"][0]["overall"]
    counts = (
        "requests",
        "clusters",
        "rounds",
        "proposed",
        "drafted",
        "accepted",
        "emitted",
        "regenerations",
        "censored",
    )
    assert {type(row[name]) for name in counts} == {int}
    estimates = {name for name, value in row.items() if isinstance(value, dict) and "value" in value}
    assert {f"accepted_p{q}" for q in (10, 50, 90, 99)} <= estimates
    assert {name for name in B if name.startswith("mean_accepted")} <= estimates
    for name in estimates:
        assert set(row[name]) == V
        assert {type(row[name][key]) for key in ("value", "low", "high")} <= {float, type(None)}
    assert set(row["rule"]) == {"threshold", "holds"}
    assert set(row["cost"]) == {"threshold", "speedup", "holds", "regime"}
    assert set(row["measured"]) == {"decode", "e2e", "ttft_ratio"}
    assert set(row["latency"]) == {"ttft_ms", "tpot_ms", "e2e_ms"}
    assert set(row["latency"]["tpot_ms"]) == {"p50", "p90", "p99"}
    assert [set(entry) for entry in row["survival"]] == [V] * 5
    assert row["reached"] == [9, 9, 3, 3, 3]
    assert {type(count) for count in row["reached"]} == {int}
    assert type(row["largest_request_share"]) is float
    assert isinstance(row["flags"], list)
    assert isinstance(row["notes"], list)


def test_every_null_has_a_reason(run, table, request_):
    def walk(node):
        if isinstance(node, dict) and set(node) == V:
            yield node
        elif isinstance(node, (dict, list)):
            for child in node.values() if isinstance(node, dict) else node:
                yield from walk(child)

    bare = RunData(info={}, state="interrupted", table=table(request_("a", [0], [0]), request_("b")))
    measured = document([run(calibration=[occasion((100, 500))])])
    for whole in (document([run()], costs=COSTS), document([run()]), document([bare]), measured):
        estimates = list(walk(to_dict(whole)))
        assert len(estimates) > 50
        assert all(e["reason"] for e in estimates if e["value"] is None or e["low"] is None)


def test_the_document_is_json_without_nan(run):
    text = json.dumps(to_dict(document([run()])), allow_nan=False)
    assert json.loads(text)["arms"][0]["overall"]["verdict"] == "enable"


def test_the_order_and_the_cut_of_shards_change_no_bit(run, requests, request_):
    more = [request_(f"x{i}", [5, 4], [i % 5, i % 3], prompt_id=f"x{i % 7}", task="code") for i in range(30)]
    rows = [*requests, *more]
    expected = to_dict(document([run(rows=rows)], costs=Costs(0.1, 0, widths=((3, 1.07), (5, 1.13)))))
    for seed in range(5):
        shuffled = random.Random(seed).sample(rows, len(rows))
        assert to_dict(document([run(rows=shuffled)], costs=Costs(0.1, 0, widths=((3, 1.07), (5, 1.13))))) == expected


def test_rows_of_tasks_and_buckets_add_up_to_the_whole(run):
    arm = document([run()]).arms[0]
    for name in ("requests", "rounds", "drafted", "accepted", "emitted", "regenerations", "censored"):
        whole = getattr(arm.overall, name)
        assert sum(getattr(row, name) for row in arm.tasks) == whole
        assert sum(getattr(row, name) for row in arm.buckets) == whole
    assert [row.task for row in arm.tasks] == ["chat", "code"]
    assert [(row.task, row.prompt, row.response) for row in arm.buckets] == [
        ("chat", "0-128", "0-20"),
        ("code", "0-128", "0-20"),
        ("code", "512-2048", "0-20"),
    ]
    assert (arm.overall.task, arm.overall.prompt, arm.overall.response) == (None, None, None)


def test_buckets_by_label(run):
    rows = document([run()], by=("label.language",)).arms[0].buckets
    assert [(dict(row.labels), row.task, row.requests) for row in rows] == [
        ({"language": "en"}, None, 2),
        ({"language": "ko"}, None, 1),
    ]


def test_an_unknown_label_is_refused(run):
    with pytest.raises(UsageError, match="no request has the label `tier`"):
        document([run()], by=("label.tier",))


def test_given_costs_stand_with_the_arm_and_have_no_spread(run):
    (costs,) = document([run()], costs=COSTS).arms[0].costs
    assert (costs.regime, costs.source, costs.widths) == ("given", "given", ())
    assert (costs.alpha.low, costs.alpha.value, costs.alpha.high) == (0.1, 0.1, 0.1)
    assert (costs.beta.value, costs.alpha_round.value, costs.phi.value) == (0.02, 0, 0)
    assert document([run()]).arms[0].costs == ()


def test_the_baseline_arm_appears_only_when_asked_for_and_is_not_judged(run):
    assert [arm.arm for arm in document([run()]).arms] == ["spec"]
    (plain,) = document([run()], costs=COSTS, arms=["baseline"]).arms
    assert (plain.overall.verdict, plain.overall.basis, plain.overall.measured) == (None, None, None)
    assert plain.overall.notes == ("the baseline arm is what others are measured against: no verdict",)
    assert plain.overall.latency.e2e_ms.p50.value == 1.3


def test_an_arm_that_no_run_has_is_refused_with_the_nearest_one(run):
    with pytest.raises(UsageError, match="no run has the arm `spce`") as caught:
        document([run()], arms=["spce"])
    assert caught.value.hint == "did you mean `spec`?"


def test_several_runs_stand_side_by_side(run):
    both = document([run("one"), run("two")])
    assert [entry["run_id"] for entry in both.runs] == ["one", "two"]
    assert [(arm.run_id, arm.arm) for arm in both.arms] == [("one", "spec"), ("two", "spec")]


def test_an_imported_run_without_arms_takes_them_from_its_requests(table, request_):
    bare = RunData(info={}, state="complete", table=table(request_("a", [2], [1], arm="imported")))
    (arm,) = document([bare]).arms
    assert (arm.arm, arm.k, arm.overall.measured, arm.overall.rounds) == ("imported", None, None, 1)


def test_an_arm_without_a_finished_request_is_there_and_empty(run, request_):
    (arm,) = document([run(rows=[request_("a", [2], [1], complete=False)])]).arms
    assert (arm.overall.requests, arm.overall.notes) == (0, ("1 request left out: unfinished",))
    assert [row.task for row in arm.tasks] == ["chat"]
    assert arm.buckets == ()


def test_pairs_are_bucketed_by_the_length_of_the_baseline(run, request_):
    """The speculative answer has 30 tokens, the baseline's 10: the pair stands in the baseline's bucket."""
    times = {"prompt_id": "p", "first_chunk_tokens": 1, "ttft_us": 0}
    other = {"prompt_id": "q", "first_chunk_tokens": 1, "ttft_us": 0}
    rows = [
        request_("s", [2] * 10, [2] * 10, latency_us=2900, **times),
        request_("b", arm="baseline", response_tokens=10, latency_us=1800, **times),
        request_("t", [2] * 2, [2] * 2, latency_us=500, **other),
        request_("c", arm="baseline", response_tokens=6, latency_us=1000, **other),
    ]
    short, long = document([run(rows=rows)]).arms[0].buckets
    assert (short.response, short.requests, short.measured.decode.n) == ("0-20", 1, 2)
    assert short.measured.decode.value == pytest.approx((2800 / 14) / (3400 / 34))
    assert (long.response, long.requests, long.measured.decode.value) == ("20-128", 1, None)


def test_a_run_of_plain_decoding_alone_has_no_arm_to_judge(run, requests):
    plain = [row for row in requests if row.arm == "baseline"]
    (arm,) = document([run(rows=plain)]).arms
    assert (arm.arm, arm.overall.requests) == ("spec", 0)
    assert document([RunData({}, "complete", run(rows=plain).table)]).arms == ()


def test_no_runs_make_an_empty_document():
    assert to_dict(document([])) == {"schema": "specprof.report/1", "runs": [], "arms": []}


def occasion(contexts, when="before", step_us=100):
    """Six repeats that agree. At context c a draft costs c/1000 plain steps per token, and a verified token .02."""
    samples = []
    for context, repeat in itertools.product(contexts, range(6)):
        place = {"context": context, "repeat": repeat}
        rounds = ((0, 1), (2, 1.04), (5, 1.1))
        drafts = ((width, width * context / 1000) for width in (1, 5))
        samples += [
            {"kind": "plain", "us": step_us, **place},
            *({"kind": "round", "us": step_us * cost, "width": width, **place} for width, cost in rounds),
            *(
                {"kind": "draft", "us": step_us * cost, "width": width, "arm": "spec", **place}
                for width, cost in drafts
            ),
        ]
    return {"when": when, "samples": samples}


def test_a_run_is_priced_by_its_calibration_each_request_by_its_context(run):
    """Prompts of 100 and 600 tokens, α of .1 and .5: rounds of 5, 5 and 2 tokens cost 3 + 12·(.02 + α)."""
    arm = document([run(calibration=[occasion((100, 500))])]).arms[0]
    assert [(costs.regime, costs.source, costs.alpha.value) for costs in arm.costs] == [
        ("context 100", "measured", pytest.approx(0.1)),
        ("context 500", "measured", pytest.approx(0.5)),
    ]
    chat, short, long = arm.buckets
    assert (chat.cost.regime, short.cost.regime, long.cost.regime) == ("context 100", "context 100", "context 500")
    assert chat.cost.speedup.value == short.cost.speedup.value == pytest.approx(11 / (3 + 12 * 0.12))
    assert long.cost.speedup.value == pytest.approx(11 / (3 + 12 * 0.52))
    assert arm.overall.cost.regime == "context 100, context 500"
    assert arm.overall.cost.speedup.value == pytest.approx(33 / (9 + 24 * 0.12 + 12 * 0.52))


def test_costs_that_agree_in_every_repeat_price_like_given_ones(run):
    measured = document([run(calibration=[occasion((100,))])]).arms[0]
    given = document([run(calibration=[occasion((100,))])], costs=Costs(0.1, 0.02)).arms[0]
    assert [costs.source for costs in given.costs] == ["given"]
    for one, other in zip(measured.buckets, given.buckets, strict=True):
        assert one.cost.speedup.value == pytest.approx(other.cost.speedup.value)
        assert one.cost.threshold.value == pytest.approx(other.cost.threshold.value)
        assert one.rule.threshold.value == pytest.approx(other.rule.threshold.value)
        assert (one.cost.holds, one.verdict, one.basis) == (other.cost.holds, other.verdict, other.basis)


def test_a_calibration_that_drifted_flags_every_row_it_prices(run):
    calibration = [occasion((100,)), occasion((100,), when="after", step_us=120)]
    arm = document([run(calibration=calibration)]).arms[0]
    assert all("drifted" in row.flags for row in (arm.overall, *arm.tasks, *arm.buckets))
    assert "drifted" not in document([run(calibration=calibration)], costs=COSTS).arms[0].overall.flags


def test_flags_of_the_capture_stand_on_every_row_of_their_arm(run):
    arm, plain = document([run(arm_flags={"spec": ["self-tuning"]})], arms=["spec", "baseline"]).arms[::-1]
    assert all("self-tuning" in row.flags for row in (arm.overall, *arm.tasks, *arm.buckets))
    assert "self-tuning" not in plain.overall.flags


def test_the_baseline_has_no_costs_however_the_run_was_calibrated(run):
    (plain,) = document([run(calibration=[occasion((100,))])], arms=["baseline"]).arms
    assert plain.costs == ()
    assert plain.overall.cost.speedup.value is None
