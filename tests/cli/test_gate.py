import pytest


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        (["mean_accepted > 1.9"], 0),
        (["mean_accepted > 2.1"], 1),
        (["cost.speedup > 1"], 3),
        (["mean_accepted > 1.9", "cost.speedup > 1"], 3),
        (["mean_accepted > 2.1", "cost.speedup > 1"], 1),
        (["mean_acceptet > 1"], 2),
        (["task=chat: mean_accepted > 1"], 2),
        (["mean_accepted > 2.1", "nonsense"], 2),
    ],
)
def test_the_exit_code_says_what_came_out(cli, imported, rules, code):
    assert cli("gate", imported, *(word for rule in rules for word in ("--rule", rule))).code == code


@pytest.mark.parametrize(("choice", "code"), [("fail", 1), ("warn", 0), ("3", 3)])
def test_inconclusive_is_what_the_user_says_it_is(cli, imported, choice, code):
    assert cli("gate", imported, "--rule", "cost.speedup > 1", "--inconclusive", choice).code == code


def test_warn_softens_nothing_but_the_inconclusive(cli, imported):
    assert cli("gate", imported, "--rule", "mean_accepted > 2.1", "--inconclusive", "warn").code == 1


def test_costs_make_a_cost_rule_decidable(cli, imported):
    priced = ("--alpha", 0.1, "--beta", 0.02)
    assert cli("gate", imported, "--rule", "cost.speedup > 2", *priced).code == 0  # 3 / 1.48 = 2.03
    assert cli("gate", imported, "--rule", "cost.speedup > 2.1", *priced).code == 1


def test_each_rule_prints_selection_value_interval_bound_n_and_outcome(cli, imported):
    out = cli("gate", imported, "--rule", "task=code: mean_accepted > 1.9").out
    assert "pass" in out
    assert "task=code: mean_accepted > 1.9" in out
    assert "imported, task=code: 2.00 [2.00, 2.00], bound > 1.9, n = 24" in out
    assert out.endswith("gate: pass\n")


def test_json_is_one_document(cli, imported):
    document = cli("gate", imported, "--json", "--rule", "mean_accepted > 2.1").json
    assert document["schema"] == "specprof.gate/1"
    assert (document["outcome"], document["rules"][0]["value"]) == ("fail", 2.0)


def test_a_calibrated_run_needs_no_flags_to_be_judged_by_its_costs(cli, tmp_path):
    """The truth of the simulation: a draft of 4 takes 20 ms · (.4 + .05)."""
    (tmp_path / "prompts.jsonl").write_text(
        "".join(f'{{"prompt": "say {i}", "task": "summarise"}}\n' for i in range(25))
    )
    simulated = ("--engine", "simulated-prefix", "--method", "simulated", "--k", 4)
    assert cli("run", *simulated, "--prompts", "prompts.jsonl", "--out", "run").code == 0
    assert cli("gate", "run", "--rule", "task=summarise: cost.speedup > 1.2").code == 0
    assert (
        cli("gate", "run", "--rule", "time_per_round.draft_ms < 9.1", "--rule", "time_per_round.draft_ms > 8.9").code
        == 0
    )
    assert cli("gate", "run", "--rule", "task=summarise: cost.speedup > 1.2", "--phi", 3).code == 1
