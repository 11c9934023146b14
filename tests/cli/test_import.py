import json

import specprof


def test_an_imported_run_can_be_loaded(cli, imported):
    frame = specprof.load(imported)
    assert (len(frame), frame["accepted_total"].sum(), set(frame["arm"])) == (24, 96, {"imported"})
    assert frame.loc[0, "accepted"].tolist() == [3, 1]


def test_one_bad_line_imports_nothing_unless_skipped(cli, rounds, tmp_path):
    lines = rounds.read_text().splitlines()
    bad = json.loads(lines[4]) | {"accepted": [5, 1]}
    rounds.write_text("\n".join([*lines[:4], json.dumps(bad), *lines[5:]]))
    result = cli("import", rounds, "--out", "run")
    assert result.code == 2
    assert "rounds.jsonl:5" in result.err
    assert not (tmp_path / "run").exists()
    skipped = cli("import", rounds, "--out", "run", "--skip-bad")
    assert skipped.code == 0
    assert "imported 23 requests" in skipped.out
    assert "rounds.jsonl:5" in skipped.err


def test_unbalanced_requests_are_counted_and_flagged(cli, rounds):
    lines = [json.loads(line) for line in rounds.read_text().splitlines()]
    rounds.write_text("\n".join(json.dumps(line | {"response_tokens": 60}) for line in lines))
    assert "unbalanced: 24 of the requests" in cli("import", rounds, "--out", "run").err
    (arm,) = cli("report", "run", "--json").json["arms"]
    assert "unbalanced" in arm["overall"]["flags"]


def test_an_answer_that_ended_inside_the_last_round_is_censored(cli, tmp_path):
    line = {
        "request_id": "a",
        "task": "t",
        "prompt_tokens": 1,
        "response_tokens": 8,
        "drafted": [5, 5],
        "accepted": [3, 5],
    }
    (tmp_path / "cut.jsonl").write_text(json.dumps(line))
    cli("import", "cut.jsonl", "--out", "run")
    (row,) = specprof.load(tmp_path / "run").to_dict("records")
    assert (row["emitted"].tolist(), row["accepted"].tolist()) == ([4, 4], [3, 4])
    assert row["accepted_raw"].tolist()[-1] == 5
    (arm,) = cli("report", "run", "--json").json["arms"]
    assert arm["overall"]["censored"] == 1


def test_an_existing_run_is_not_overwritten(cli, imported, rounds):
    result = cli("import", rounds, "--out", imported)
    assert result.code == 2
    assert "already holds a run" in result.err
