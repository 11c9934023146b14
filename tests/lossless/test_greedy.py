import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specprof.lossless.greedy import compare, first_divergence, share

IDS = st.lists(st.integers(0, 2), max_size=6)


@pytest.mark.parametrize(
    ("ours", "theirs", "place"), [([1, 2], [1, 2], None), ([1, 2], [1, 3], 1), ([1], [1, 3], 1), ([], [4], 0)]
)
def test_the_first_divergence(ours, theirs, place):
    assert first_divergence(ours, theirs) == place


@given(IDS, IDS)
def test_everything_before_the_divergence_agrees(ours, theirs):
    place = first_divergence(ours, theirs)
    assert (place is None) == (ours == theirs)
    if place is not None:
        assert ours[:place] == theirs[:place]
        assert ours[place : place + 1] != theirs[place : place + 1]


def test_the_share_has_its_wilson_interval():
    """9 of 10: centre (.9 + 1.92/10)/(1 + 3.84/10) = .789, half-width .193."""
    found = share(9, 10)
    assert (found.value, found.low, found.high) == pytest.approx((0.9, 0.596, 0.982), abs=1e-3)


def logits(*row):
    """A target that says the same everywhere."""
    return lambda prompt, ids: np.tile(np.array(row, np.float32), (len(ids) + 1, 1))


@pytest.mark.parametrize(
    ("dtype", "second", "judgement"),
    [
        ("float32", -0.0005, "numerics"),
        ("float32", -0.01, "bug"),
        ("float16", -0.01, "numerics"),
        ("bfloat16", -0.4, "numerics"),
        ("bfloat16", -0.6, "bug"),
        ("float8", -0.4, "numerics"),
    ],
)
def test_a_near_tie_is_numerics_and_the_dtype_says_how_near(answer, dtype, second, judgement):
    found = compare([(answer([5, 1, 0]), answer([5, 0, 0]))], logits(0.0, second, -9.0), dtype)
    (divergence,) = found.divergences
    assert (divergence.position, divergence.ours, divergence.theirs) == (1, 1, 0)
    assert divergence.gap == divergence.shortfall == pytest.approx(-second)
    assert divergence.judgement == judgement


def test_a_near_tie_of_two_others_does_not_excuse_a_third_token(answer):
    found = compare([(answer([2]), answer([0]))], logits(0.0, -0.0001, -3.0), "float32")
    (divergence,) = found.divergences
    assert (divergence.gap, divergence.shortfall) == pytest.approx((0.0001, 3.0))
    assert divergence.judgement == "bug"


def test_an_answer_that_just_ends_is_a_bug(answer):
    found = compare([(answer([0]), answer([0, 0]))], logits(0.0, -0.0001), "float32")
    (divergence,) = found.divergences
    assert (divergence.ours, divergence.judgement) == (None, "bug")


def test_the_spread_is_between_a_long_and_a_short_pass(answer):
    def score(prompt, ids):
        return np.array([[0.0, -1.0]] * (len(ids) + 1)) + 0.01 * len(ids)

    found = compare([(answer([0, 1, 0]), answer([0, 0, 0]))], score, "float32")
    assert found.divergences[0].spread == pytest.approx(0.02)  # 3 tokens of answer against 1


def test_lengths_and_finish_reasons_are_counted(answer):
    pairs = [(answer([1, 2]), answer([1, 2])), (answer([1, 2, 3], finish_reason="length"), answer([1, 2]))]
    found = compare(pairs, None, "float32")
    assert (found.identical.value, found.same_length.value, found.same_finish.value) == (0.5, 0.5, 0.5)
    assert found.divergences[0].judgement == "unjudged"


def test_16_answers_show_a_fault_in_a_tenth_of_them_with_80_percent(answer):
    """1 − .9¹⁶ = .815; with 15 it is .794."""
    assert compare([(answer([1]), answer([1]))] * 16, None, "float32").detectable < 0.1
    assert compare([(answer([1]), answer([1]))] * 15, None, "float32").detectable > 0.1


def test_hashes_alone_show_whether_answers_are_the_same(answer):
    same, other = (answer(output_sha256=digest) for digest in (b"a" * 32, b"b" * 32))
    found = compare([(same, same), (same, other)], None, "float32")
    assert found.identical.value == 0.5
    assert [(d.position, d.judgement) for d in found.divergences] == [(None, "unjudged")]
