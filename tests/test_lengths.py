import pytest

from specprof.lengths import PROMPT_EDGES, RESPONSE_EDGES, length_label, length_labels


def test_labels_name_half_open_buckets_and_an_open_last_one():
    assert length_labels(RESPONSE_EDGES) == ("0-20", "20-128", "128-512", "512-2048", "2048+")


@pytest.mark.parametrize(
    ("tokens", "label"), [(0, "0-128"), (127, "0-128"), (128, "128-512"), (8191, "2048-8192"), (8192, "8192+")]
)
def test_an_edge_belongs_to_the_bucket_that_it_opens(tokens, label):
    assert length_label(tokens, PROMPT_EDGES) == label
