import numpy as np
import pytest

from specprof.lossless.oracle import BINS, Oracle, Scored, ranks
from specprof.records import Arm

ROW = np.log([0.2, 0.5, 0.3])


def oracle(asked):
    def score(prompt, ids):
        asked.append((prompt, ids))
        return np.tile(ROW, (len(ids) + 1, 1))

    return Oracle(score, Arm(id="a", method="none", temperature=1.0))


def test_a_token_lies_above_the_likelier_ones():
    """In falling order: token 1 holds 0 to .5, token 2 .5 to .8, token 0 .8 to 1."""
    scored = oracle([]).scored("p", (0, 1, 2))
    assert scored.below == pytest.approx([0.8, 0.0, 0.5])
    assert scored.own == pytest.approx([0.2, 0.5, 0.3])
    assert scored.log_probability == pytest.approx(np.log([0.2, 0.5, 0.3]).mean())


def test_the_target_is_asked_once_for_each_answer():
    asked = []
    target = oracle(asked)
    for _ in range(3):
        target.scored("p", (1,))
        target.next_token("p", (1,))
    assert len(asked) == 2


def test_tokens_of_the_target_fill_the_parts_evenly():
    target, rng = oracle([]), np.random.default_rng(0)
    answers = [target.scored("p", (int(token),)) for token in rng.choice(3, 20_000, p=[0.2, 0.5, 0.3])]
    counts = ranks(answers, rng)
    assert sum(counts.values()) == 20_000
    assert min(counts.values()) > 20_000 / BINS - 4 * 31  # 4 standard deviations of a binomial


def test_an_impossible_token_counts_as_the_least_likely():
    assert ranks([Scored(0.0, np.array([1.0]), np.array([0.0]))], np.random.default_rng(0)) == {BINS - 1: 1}
