import numpy as np
import pytest

from specprof.analysis.buckets import (
    PROMPT_EDGES,
    PROMPT_LABELS,
    RESPONSE_LABELS,
    Cell,
    cells,
    check_by,
    in_cell,
    length_bucket,
)
from specprof.errors import UsageError


def test_the_labels_of_the_lengths():
    assert PROMPT_LABELS == ("0-128", "128-512", "512-2048", "2048-8192", "8192+")
    assert RESPONSE_LABELS == ("0-20", "20-128", "128-512", "512-2048", "2048+")


def test_an_edge_belongs_to_the_bucket_above():
    lengths = np.array([0, 127, 128, 511, 512, 8191, 8192, 100_000])
    expected = ["0-128", "0-128", "128-512", "128-512", "512-2048", "2048-8192", "8192+", "8192+"]
    assert length_bucket(lengths, PROMPT_EDGES).tolist() == expected


@pytest.fixture(scope="session")
def mixed(frame, request_):
    def row(id, task, prompt, response, **labels):
        return request_(id, task=task, prompt_tokens=prompt, response_tokens=response, labels=labels)

    return frame(
        row("a", "code", 600, 10, language="en"),
        row("b", "code", 100, 10),
        row("c", "chat", 100, 300, language="ko"),
        row("d", "code", 100, 10, language="en"),
    )


def test_cells_come_by_task_and_then_from_short_to_long(mixed):
    assert cells(mixed, ("task", "prompt", "response")) == [
        Cell("chat", "0-128", "128-512"),
        Cell("code", "0-128", "0-20"),
        Cell("code", "512-2048", "0-20"),
    ]


def test_a_request_without_the_label_has_a_cell_of_its_own(mixed):
    found = [cell.labels for cell in cells(mixed, ("label.language",))]
    assert found == [(("language", "en"),), (("language", "ko"),), (("language", None),)]


@pytest.mark.parametrize("by", [("task", "prompt", "response"), ("label.language",), ("prompt", "label.language"), ()])
def test_every_request_is_in_exactly_one_cell(mixed, by):
    hits = sum(in_cell(mixed, cell, mixed.requests.response_tokens).astype(int) for cell in cells(mixed, by))
    assert hits.tolist() == [1, 1, 1, 1]


def test_the_response_length_of_a_cell_can_be_that_of_another_arm(mixed):
    elsewhere = np.array([300, 300, 300, 10])
    assert in_cell(mixed, Cell(response="0-20"), elsewhere).tolist() == [False, False, False, True]


def test_an_unknown_key_is_refused_with_the_nearest_one():
    with pytest.raises(UsageError, match="unknown key `taks`") as caught:
        check_by(("taks",), ())
    assert caught.value.hint == "did you mean `task`?"


def test_a_label_that_no_request_has_is_refused():
    with pytest.raises(UsageError, match="no request has the label `tier`") as caught:
        check_by(("task", "label.tier"), ("language",))
    assert caught.value.hint == "labels of these requests: language"


def test_arms_are_entries_already_so_arm_splits_nothing():
    assert check_by(("task", "arm", "label.language"), ("language",)) == ("task", "label.language")
