import pytest

from specprof.analysis.cost import Costs
from specprof.analysis.evaluate import RunData
from specprof.errors import UsageError
from specprof.gate import gate_document, judge, overall, parse
from specprof.records import BASELINE, Request, Round
from specprof.store.schema import rows

INFO = {"run_id": "r", "arms": {"spec": {"method": "x", "k": 4}, BASELINE: {"method": "none", "k": 0}}}


def request(number, task="code", accepted=2, arm="spec", prompt_tokens=10, **values):
    """Ten rounds of k = 4, all with the same number accepted; a baseline has none."""
    rounds = (Round(4, 4, accepted, accepted + 1),) * 10 if arm != BASELINE else ()
    tokens = 10 * (accepted + 1)
    return Request(f"{arm}-{task}-{number}", f"{task}-{number}", arm, task, prompt_tokens, tokens, rounds, **values)


def run(*requests, state="complete"):
    return RunData(INFO, state, rows(r.with_(writer="w") for r in requests))


@pytest.fixture
def mixed():
    """30 code prompts with 2 accepted per round, 30 chat prompts with 0 or 1; half of the prompts are long."""
    code = [request(i, prompt_tokens=10 if i < 15 else 200) for i in range(30)]
    chat = [request(i, "chat", accepted=i % 2, labels={"lang": ("en", "ko")[i % 2]}) for i in range(30)]
    return run(*code, *chat, *(request(i, arm=BASELINE) for i in range(3)))


def outcomes(data, *rules, **settings):
    return judge(data, [parse(rule) for rule in rules], settings.pop("costs", None), **settings)


def test_a_task_row_is_selected_and_judged(mixed):
    (kept,) = outcomes(mixed, "task=code: mean_accepted > 1.9")
    assert (kept.outcome, kept.arm, kept.selection, kept.value, kept.n) == ("pass", "spec", "task=code", 2.0, 30)
    (broken,) = outcomes(mixed, "task=chat: mean_accepted > 1.9")
    assert (broken.outcome, broken.value) == ("fail", 0.5)


def test_without_a_selection_the_overall_row_of_every_arm_but_the_baseline_counts(mixed):
    (outcome,) = outcomes(mixed, "mean_accepted > 1")
    assert (outcome.arm, outcome.selection, outcome.value) == ("spec", "overall", 1.25)
    assert [o.arm for o in outcomes(mixed, "arm=baseline: requests >= 3")] == [BASELINE]


def test_buckets_are_task_by_prompt_and_each_is_judged(mixed):
    found = {o.selection: (o.value, o.outcome) for o in outcomes(mixed, "buckets requests >= 20")}
    assert found == {
        "task=chat,prompt=0-128": (30, "pass"),
        "task=code,prompt=0-128": (15, "fail"),
        "task=code,prompt=128-512": (15, "fail"),
    }
    (one,) = outcomes(mixed, "buckets task=code,prompt=128-512: mean_accepted > 1")
    assert (one.outcome, one.value) == ("pass", 2.0)


def test_a_selection_without_buckets_pools_all_that_fits(mixed):
    (short,) = outcomes(mixed, "prompt=0-128: requests > 0")
    assert (short.value, short.selection) == (45, "prompt=0-128")
    (korean,) = outcomes(mixed, "label.lang=ko: mean_accepted.value > 0")
    assert korean.value == 1.0


def test_a_selection_by_response_length_is_a_cell_too(mixed):
    (cell,) = outcomes(mixed, "task=code,response=20-128: requests >= 30")
    assert (cell.outcome, cell.value) == ("pass", 30)


@pytest.mark.parametrize(
    ("rule", "words", "hint"),
    [
        ("task=cod: mean_accepted > 1", "matches no request", "did you mean `code`?"),
        ("prompt=128-513: mean_accepted > 1", "matches no request", "did you mean `128-512`?"),
        ("arm=spek: mean_accepted > 1", "no arm `spek`", "did you mean `spec`?"),
        ("mean_acepted > 1", "unknown metric `mean_acepted`", "did you mean `mean_accepted`?"),
        ("latency.ttft_ms > 1", "unknown metric", "did you mean `latency.ttft_ms.p"),
        ("measured.decod > 1", "unknown metric", "did you mean `measured.decode`?"),
        ("mean_accepted.reason > 1", "unknown metric", "did you mean `mean_accepted`?"),
        ("rule.holds > 0", "unknown metric", ""),
        ("survival.n > 3", "unknown metric", ""),
        ("reached > 3", "unknown metric", ""),
        ("task=nope,task=code: mean_accepted > 1", "names a key twice", "a row has one value per key"),
        ("label.colour=red: mean_accepted > 1", "matches no request", "see `specprof report RUN --detail`"),
        ("verdict > 1", "unknown metric", ""),
    ],
)
def test_a_rule_that_speaks_of_nothing_is_an_error_and_never_a_pass(mixed, rule, words, hint):
    with pytest.raises(UsageError, match=words) as caught:
        outcomes(mixed, rule)
    assert caught.value.hint.startswith(hint)


def test_what_the_run_does_not_measure_is_inconclusive_with_the_reason(mixed):
    (priced,) = outcomes(mixed, "cost.speedup > 1")
    assert (priced.outcome, priced.value) == ("inconclusive", None)
    assert "--alpha" in priced.advice
    data = run(*(request(i) for i in range(3)))
    (measured,) = outcomes(data, "measured.decode > 1")
    assert (measured.outcome, measured.advice) == ("inconclusive", "measured.decode is not measured in this run")


def test_costs_reach_the_rules(mixed):
    # accepted 2 of 4: S = 3 / (1 + 4 · (0.1 + 0.02)) = 3 / 1.48
    (outcome,) = outcomes(mixed, "task=code: cost.speedup > 2", costs=Costs(alpha=0.1, beta=0.02))
    assert outcome.outcome == "pass"
    assert outcome.value == pytest.approx(3 / 1.48)


def test_no_data_never_passes():
    (outcome,) = outcomes(run(), "mean_accepted >= 0")
    assert outcome.outcome == "inconclusive"
    assert overall([]) == "inconclusive"


def test_a_selection_in_which_everything_was_skipped_or_unfinished_never_passes():
    lost = [request(i, "chat", finish_reason="skipped") for i in range(3)] + [
        request(i, "qa", prompt_tokens=0, complete=False) for i in range(3)
    ]
    data = run(*(request(i) for i in range(30)), *lost)
    found = {o.selection: o.outcome for o in outcomes(data, "buckets mean_accepted > 1")}
    assert found == {
        "task=chat,prompt=0-128": "inconclusive",
        "task=code,prompt=0-128": "pass",
    }
    (qa,) = outcomes(data, "task=qa: mean_accepted > 1")
    assert qa.outcome == "inconclusive"
    (chat,) = outcomes(data, "task=chat: censored < 5")
    assert (chat.outcome, chat.advice) == ("inconclusive", "the arm has no finished request here: no data never passes")


def test_an_arm_without_data_in_the_selection_has_an_outcome_of_its_own():
    data = run(*(request(i) for i in range(30)), *(request(i, "chat", arm="other") for i in range(30)))
    found = {o.arm: o.outcome for o in outcomes(data, "task=code: mean_accepted > 1")}
    assert found == {"spec": "pass", "other": "inconclusive"}


def test_a_run_with_nothing_but_a_baseline_is_an_error():
    plain = run(request(1, arm=BASELINE))
    with pytest.raises(UsageError, match="no arm but the baseline"):
        outcomes(RunData({"arms": {BASELINE: {}}}, "complete", plain.table), "requests > 0")


def test_counts_compare_as_they_are_and_say_how_many_clusters(mixed):
    (outcome,) = outcomes(mixed, "task=code: requests >= 30")
    assert (outcome.outcome, outcome.n) == ("pass", 30)


def test_an_outcome_carries_the_flags_of_its_row():
    (outcome,) = outcomes(run(*(request(i) for i in range(2))), "mean_accepted > 1")
    assert "thin" in outcome.flags


def test_an_unfinished_run_is_inconclusive_unless_allowed(mixed):
    partial = RunData(mixed.info, "interrupted", mixed.table)
    (outcome,) = outcomes(partial, "task=code: mean_accepted > 1")
    assert outcome.outcome == "inconclusive"
    assert "interrupted" in outcome.advice
    assert "--allow-partial" in outcome.advice
    (allowed,) = outcomes(partial, "task=code: mean_accepted > 1", allow_partial=True)
    assert allowed.outcome == "pass"


def test_a_run_of_which_a_file_was_left_out_is_inconclusive_unless_allowed(mixed):
    holed = RunData(mixed.info, "complete", mixed.table, problems=("`part-w-00001.parquet` is damaged",))
    (outcome,) = outcomes(holed, "task=code: mean_accepted > 1")
    assert (outcome.outcome, outcome.advice.startswith("1 damaged files were left out")) == ("inconclusive", True)
    assert gate_document(holed, [outcome])["problems"] == ["`part-w-00001.parquet` is damaged"]
    (allowed,) = outcomes(holed, "task=code: mean_accepted > 1", allow_partial=True)
    assert allowed.outcome == "pass"


def test_an_undecided_rule_says_how_many_clusters_would_settle_it():
    # 10 clusters of 0 and 10 of 1: mean 0.5, s = sqrt(20/19 · 0.25), t(19) = 2.093
    # half-width = 2.093 · sqrt(0.25 · 20/19 / 20) = 0.2401; to reach 0.6 at distance 0.1: 20 · 2.401² − 20 = 95.3
    data = run(*(request(i, accepted=i % 2) for i in range(20)))
    (outcome,) = outcomes(data, "mean_accepted > 0.6")
    assert outcome.outcome == "inconclusive"
    assert "about 96 more clusters" in outcome.advice


def test_a_value_on_the_bound_is_settled_by_no_number_of_requests():
    data = run(*(request(i, accepted=i % 2) for i in range(20)))
    (outcome,) = outcomes(data, "mean_accepted > 0.5")
    assert "move the bound" in outcome.advice


@pytest.mark.parametrize(
    ("rules", "result"),
    [
        (["task=code: mean_accepted > 1"], "pass"),
        (["task=code: mean_accepted > 1", "cost.speedup > 1"], "inconclusive"),
        (["task=code: mean_accepted > 1", "cost.speedup > 1", "task=chat: mean_accepted > 1"], "fail"),
    ],
)
def test_one_failure_fails_and_one_open_rule_leaves_it_open(mixed, rules, result):
    assert overall(outcomes(mixed, *rules)) == result


def test_the_document_holds_every_outcome(mixed):
    found = outcomes(mixed, "task=code: mean_accepted > 1", "cost.speedup > 1")
    document = gate_document(mixed, found)
    assert (document["schema"], document["outcome"], document["state"]) == (
        "specprof.gate/1",
        "inconclusive",
        "complete",
    )
    assert [rule["outcome"] for rule in document["rules"]] == ["pass", "inconclusive"]


def test_every_part_of_a_round_is_a_metric(mixed):
    parts = ("draft_ms", "verify_ms", "overhead_ms", "step_ms", "plain_ms")
    found = [outcomes(mixed, f"task=code: time_per_round.{part} > 0")[0] for part in parts]
    assert [outcome.metric for outcome in found] == [f"time_per_round.{part}" for part in parts]
    assert {outcome.outcome for outcome in found} == {"inconclusive"}  # nothing was timed
