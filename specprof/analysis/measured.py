"""Speed-up as measured: the baseline's time over the speculative arm's, on the same prompts of the same run."""

from dataclasses import dataclass

import numpy as np

from specprof.analysis.estimate import Estimate
from specprof.analysis.frame import Requests
from specprof.analysis.intervals import ANY, Floats, Ints, ratio, ratio_of_ratios


@dataclass(frozen=True, slots=True)
class Measured:
    """Above 1 the speculative arm is faster. `e2e` rests on pairs with answers of equal length only."""

    decode: Estimate
    e2e: Estimate
    ttft_ratio: Estimate


def measure(spec: Requests, base: Requests) -> Measured:
    left, right = pairs(spec, base)
    same = left.response_tokens == right.response_tokens
    base_us, spec_us = right.latency_us[same], left.latency_us[same]
    return Measured(
        decode=decode(spec, base),
        e2e=_time_ratio(base_us, spec_us, left.cluster[same], "no timed pair with answers of equal length"),
        ttft_ratio=_time_ratio(right.ttft_us, left.ttft_us, left.cluster, "no pair with both times to the first token"),
    )


def decode(spec: Requests, base: Requests) -> Estimate:
    """[Σ_base D/Σ_base n′] / [Σ_spec D/Σ_spec n′] over prompts timed in both arms, D = latency − TTFT, n′ = tokens
    after the first chunk."""
    spec, base = (arm.take(np.isfinite(decode_us(arm))) for arm in (spec, base))
    spec, base = spec.take(np.isin(spec.prompt, base.prompt)), base.take(np.isin(base.prompt, spec.prompt))
    time = np.concatenate([decode_us(base), decode_us(spec)])
    tokens = np.concatenate([decode_tokens(base), decode_tokens(spec)])
    cluster = np.concatenate([base.cluster, spec.cluster])
    of_base = np.arange(time.size) < base.cluster.size
    empty = "no prompt with decode times in both arms"
    return ratio_of_ratios(time * of_base, tokens * of_base, time * ~of_base, tokens * ~of_base, cluster, empty=empty)


def decode_us(requests: Requests) -> Floats:
    """Time after the first chunk; NaN where a time or the size of the first chunk was not observed."""
    return np.where(np.isfinite(requests.first_chunk_tokens), requests.latency_us - requests.ttft_us, np.nan)


def decode_tokens(requests: Requests) -> Floats:
    return requests.response_tokens - requests.first_chunk_tokens


def pairs(spec: Requests, base: Requests) -> tuple[Requests, Requests]:
    """The requests of the two arms that share prompt and sample, in the same order; where a source gives several
    answers the same sample, first goes with first, second with second."""
    keys = _pair_keys(spec, base)
    repeats = [_repeat(key) for key in keys]
    most = 1 + int(max(repeat.max(initial=0) for repeat in repeats))
    of_spec, of_base = (key * most + repeat for key, repeat in zip(keys, repeats, strict=True))
    _, left, right = np.intersect1d(of_spec, of_base, return_indices=True)
    return spec.take(left), base.take(right)


def reference_lengths(spec: Requests, base: Requests) -> Ints:
    """The response length of each request's baseline: of the same sample, else of the prompt's first sample; its own
    without a baseline. Length is an outcome: bucketed by one arm's, both arms of a pair stay in one bucket."""
    base = base.take(np.argsort(base.sample, kind="stable"))
    of_prompt = _matched(spec.prompt, base.prompt, base.response_tokens, spec.response_tokens)
    return _matched(*_pair_keys(spec, base), base.response_tokens, of_prompt)


def length_shift(spec: Requests, base: Requests) -> bool:
    """The paired response lengths differ by more than chance."""
    left, right = pairs(spec, base)
    difference = left.response_tokens - right.response_tokens
    shift = ratio(difference, np.ones(difference.size), left.cluster, bounds=ANY)
    return shift.low is not None and shift.high is not None and not shift.low <= 0 <= shift.high


def _pair_keys(spec: Requests, base: Requests) -> tuple[Ints, Ints]:
    """One number per prompt and sample, the same in both arms."""
    samples = 1 + int(max(spec.sample.max(initial=0), base.sample.max(initial=0)))
    return spec.prompt * samples + spec.sample, base.prompt * samples + base.sample


def _repeat(keys: Ints) -> Ints:
    """How many equal keys stand before each."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    repeat = np.empty_like(keys)
    repeat[order] = np.arange(keys.size) - np.searchsorted(ordered, ordered)
    return repeat


def _matched(wanted: Ints, keys: Ints, values: Ints, default: Ints) -> Ints:
    """The value under the first key equal to each wanted one, else its default."""
    if not keys.size:
        return default
    known, first = np.unique(keys, return_index=True)
    spot = np.minimum(np.searchsorted(known, wanted), known.size - 1)
    return np.where(known[spot] == wanted, values[first[spot]], default)


def _time_ratio(base_us: Floats, spec_us: Floats, cluster: Ints, empty: str) -> Estimate:
    """Σ baseline / Σ speculative over pairs in which both times were observed."""
    seen = np.isfinite(base_us) & np.isfinite(spec_us)
    return ratio(base_us[seen], spec_us[seen], cluster[seen], empty=empty)
