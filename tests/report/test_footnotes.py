from specprof.analysis.cost import Costs
from specprof.records import FLAGS
from specprof.report.decision_table import places
from specprof.report.footnotes import cost_figures, footnotes


def notes(arms):
    return list(footnotes(arms, places(arms, buckets=False)))


def occasion(*alphas, lengths=(1, 4)):
    """Seven repeats at the contexts 100, 200, …: t₁ is 10 ms, v(4) = 1.2, α as given + 0, .001, … .006."""
    samples = []
    for number in range(7):
        for index, alpha in enumerate(alphas, 1):
            place = {"context": 100 * index, "repeat": number}
            drafts = ((width, width * 10_000 * (alpha + number / 1000)) for width in lengths)
            samples += [
                {"kind": "plain", "us": 10_000, **place},
                *({"kind": "round", "us": us, "width": width, **place} for width, us in ((0, 10_000), (4, 12_000))),
                *({"kind": "draft", "us": us, "width": width, "arm": "one", **place} for width, us in drafts),
            ]
    return [{"when": "before", "samples": samples}]


def test_a_flag_is_explained_once_however_many_rows_raise_it(report):
    found = notes(report({"one": 1, "two": 2}, n=3).arms)
    assert found.count(f"¹ thin: {FLAGS['thin']}") == 1


def test_what_would_settle_each_row_stands_in_one_line(report):
    """3 or 4 tokens in 35 ms, plain 10 ms each: on both sides of 1. Among several arms a row has its arm's name."""
    alone, several = (
        [note for note in notes(report(arms, n=4, step_us=35_000).arms) if "would settle it" in note]
        for arms in ({"one": 2}, {"one": 2, "two": 2})
    )
    start = "more clusters that would settle it, at this spread: "
    rows = [[entry.rsplit(" ", 1)[0] for entry in note.removeprefix(start).split("; ")] for note in (*alone, *several)]
    tasks = ["chat", "code", "all"]
    assert rows == [tasks, [f"{task}, {arm}" for task in tasks for arm in ("one", "two")]]


def test_costs_of_a_drafter_timed_at_one_length_have_no_alpha_but_their_repeats(report):
    """4 tokens at .103 each, the middle of seven repeats, are .412 plain steps a round."""
    (line,) = (
        note
        for note in notes(report({"one": 2}, calibration=occasion(0.1, lengths=(4,))).arms)
        if note.startswith("costs of one")
    )
    assert "(7 repeats)" in line
    assert "α –, α₀ 0.412" in line


def test_the_time_of_a_round_is_split_beside_the_plain_step(report):
    line = "time per round of one: draft 2.0 + verify 9.0 + rest 1.0 = 12.0 ms; a plain step 10.0 ms"
    assert line in notes(report({"one": 1}).arms)


def test_given_costs_stand_once_for_all_arms(report):
    given = [note for note in notes(report({"one": 1, "two": 2}, costs=Costs(0.1, 0.02)).arms) if "costs:" in note]
    assert given == ["costs: α 0.1, α₀ 0, β 0.02, φ 0"]


def test_measured_costs_are_a_line_per_arm_with_a_value_per_context(report):
    arms = report({"one": 1, "two": 1}, calibration=occasion(0.1, 0.2)).arms
    assert [note for note in notes(arms) if note.startswith("costs of ")] == [
        f"costs of {arm}, context 100 / context 200 (7 repeats): t₁ 10.0 ms / 10.0 ms, α 0.103 / 0.203, "
        "α₀ 0.000 / 0.000, β 0.050 / 0.050, φ 0.000 / 0.000"
        for arm in ("one", "two")
    ]


def test_every_cost_has_its_interval_in_the_details(report):
    (costs,) = report({"one": 1}, calibration=occasion(0.1)).arms[0].costs
    found = dict(cost_figures(costs))
    assert found["α"] == "0.103 [0.100, 0.106]"
    assert found["v(4)"] == "1.200 [1.200, 1.200]"
    assert found["t₁ in ms"] == "10.000 [10.000, 10.000]"
    assert found["ψ"] == "–  (not given: it is no part of a round)"


def test_without_costs_each_arm_says_what_a_draft_token_may_cost(report):
    """1 or 2 of 4 accepted."""
    found = notes(report({"one": 1, "two": 2}).arms)
    assert any(note.startswith("affordable overhead per drafted token, one: chat 0.38 [") for note in found)
    (alone,) = [note for note in notes(report({"one": 1}).arms) if note.startswith("affordable")]
    assert alone.startswith("affordable overhead per drafted token: chat 0.38 [")


def test_what_the_table_does_not_show_is_not_explained(report):
    found = "\n".join(notes(report({"one": 1}).arms))
    assert "measured: " in found
    assert "predicted: " not in found
    assert "needs: " not in found
