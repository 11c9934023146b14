"""At which numbers of cached tokens costs are measured."""

from collections.abc import Mapping, Sequence
from typing import Any

from specprof.engines.base import CountsTokens, Engine
from specprof.engines.calibration import longest_context
from specprof.records import EngineConfig, Prompt

UNKNOWN = (256,)  # where an engine cannot count tokens
PLACES = (1 / 6, 3 / 6, 5 / 6)  # the medians of the shortest, the middle and the longest third
DISTINCT = 1.5  # two contexts nearer than this ratio cost the same, within the noise
ROUNDED_TO = 8
SAMPLED = 500  # prompts counted


def contexts_for(
    engine: Engine, prompts: Sequence[Prompt], config: EngineConfig, described: Mapping[str, Any]
) -> tuple[int, ...]:
    """At most three contexts that stand for the middle of these requests: prompt tokens + half the answer, which an
    encoder does not see. Raises `UsageError` where the model has no room for any."""
    limit, k = described.get("context_tokens"), max((arm.k for arm in config.arms), default=0)
    most = longest_context(k, limit) if limit else None
    if not isinstance(engine, CountsTokens):
        return distinct(UNKNOWN, most)
    decoded = 0 if described.get("encoder_decoder") else 1 / 2
    some = prompts[:: max(1, len(prompts) // SAMPLED)]
    middles = sorted(engine.count_tokens(prompt) + int(_answer(prompt, config) * decoded) for prompt in some)
    return distinct(middles, most)


def distinct(middles: Sequence[int], most: int | None) -> tuple[int, ...]:
    """Of sorted lengths those at `PLACES`, rounded, up to `most` cached tokens, and each well above the last."""
    found: list[int] = []
    for place in PLACES:
        middle = middles[int(place * len(middles))]
        context = max(ROUNDED_TO, round(middle / ROUNDED_TO) * ROUNDED_TO)
        context = min(context, most) if most else context
        if not found or context >= DISTINCT * found[-1]:
            found.append(context)
    return tuple(found)


def _answer(prompt: Prompt, config: EngineConfig) -> int:
    return config.max_tokens if config.fixed_length else prompt.output_tokens or config.max_tokens
