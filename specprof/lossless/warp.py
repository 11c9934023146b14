"""From the target's log-probabilities to what an arm samples from."""

import numpy as np
from numpy.typing import NDArray

from specprof.records import Arm

Floats = NDArray[np.float64]


def probabilities(logprobs: NDArray[np.floating], arm: Arm) -> Floats:
    """Temperature, then top-k (ties of the k-th stay), then top-p: the fewest likeliest tokens that hold that much.

    Row by row over the last axis; `arm` samples, so its temperature is above 0.
    """
    scaled = logprobs.astype(np.float64) / arm.temperature
    if arm.top_k is not None and arm.top_k < scaled.shape[-1]:
        kth = -np.partition(-scaled, arm.top_k - 1, axis=-1)[..., arm.top_k - 1, None]
        scaled = np.where(scaled < kth, -np.inf, scaled)
    kept = _softmax(scaled)
    return kept if arm.top_p is None else _nucleus(kept, arm.top_p)


def _softmax(scaled: Floats) -> Floats:
    weights = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _nucleus(p: Floats, mass: float) -> Floats:
    order = np.argsort(-p, axis=-1, kind="stable")
    ordered = np.take_along_axis(p, order, axis=-1)
    kept = np.where(ordered.cumsum(axis=-1) - ordered < mass, ordered, 0.0)
    cut = np.zeros_like(p)
    np.put_along_axis(cut, order, kept, axis=-1)
    return np.asarray(cut / cut.sum(axis=-1, keepdims=True))
