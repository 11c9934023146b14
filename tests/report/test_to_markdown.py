from specprof.analysis.contract import Document
from specprof.analysis.cost import Costs
from specprof.report import to_markdown


def table(text):
    return [line for line in text.splitlines() if line.startswith("|")]


def test_one_table_holds_every_arm_of_a_run(report):
    text = to_markdown.render(report({"one": 1, "two": 2}, costs=Costs(0.1, 0)))
    head, rule, *rows = table(text)
    assert head.startswith("| task | arm | n | accepted [95 %] | p10 | needs | measured [95 %] | predicted [95 %] |")
    assert rule.count("---") == head.count("|") - 1
    assert [row.split(" | ")[:2] for row in rows] == [
        [f"| {task}", arm] for task in ("chat", "code", "all") for arm in ("one", "two")
    ]
    assert all("\\* |" in row for row in rows)


def test_each_run_has_a_table_of_its_own(report):
    one, other = report({"one": 1}), report({"one": 2}, run_id="second")
    text = to_markdown.render(Document(runs=one.runs + other.runs, arms=one.arms + other.arms))
    assert sum(line.startswith("| --- |") for line in table(text)) == 2
    assert text.index("second") > text.index("| all |")
