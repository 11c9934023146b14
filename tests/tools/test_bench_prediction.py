"""The arithmetic of the benchmark that holds predictions against measurements; the rest needs the demo pair."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

ROOT = Path(__file__).parents[2]


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    monkeypatch.chdir(ROOT)
    import bench_prediction

    yield bench_prediction
    sys.modules.pop("bench_prediction")


def test_the_jackknife_interval_of_a_mean_is_the_usual_one(bench):
    values = np.array([1.0, 4.0, 2.5, 7.0, 3.0])
    left_out = np.array([np.delete(values, index).mean() for index in range(5)])
    usual = stats.t.ppf(0.975, 4) * values.std(ddof=1) / np.sqrt(5)
    assert bench._half_width(left_out) == pytest.approx(usual)


def test_texts_have_their_lengths_and_differ(bench):
    texts = list(bench.prompts(3))
    lengths = [len(prompt.text.split()) for prompt in texts]
    assert lengths == [40] * 3 + [160] * 3 + [400] * 3
    assert len({prompt.text for prompt in texts}) == len({prompt.id for prompt in texts}) == 9
