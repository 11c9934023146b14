"""At which numbers of cached tokens costs are measured."""

from collections.abc import Mapping, Sequence
from typing import Any

from specprof.engines.base import CountsTokens, Engine
from specprof.records import Prompt

UNKNOWN = (256,)  # where an engine cannot count tokens
PLACES = (1 / 6, 3 / 6, 5 / 6)  # the medians of the shortest, the middle and the longest third
DISTINCT = 1.5  # two contexts nearer than this ratio cost the same, within the noise
ROUNDED_TO = 8
SAMPLED = 500  # prompts counted
LEFT = 64  # tokens that stay free for what the calibration decodes


def contexts_for(
    engine: Engine, prompts: Sequence[Prompt], max_tokens: int, described: Mapping[str, Any]
) -> tuple[int, ...]:
    """At most three contexts that stand for the middle of these requests: prompt tokens + half the answer."""
    if not isinstance(engine, CountsTokens):
        return UNKNOWN
    some = prompts[:: max(1, len(prompts) // SAMPLED)]
    middles = sorted(engine.count_tokens(prompt) + (prompt.output_tokens or max_tokens) // 2 for prompt in some)
    return distinct(middles, described.get("context_tokens"))


def distinct(middles: Sequence[int], limit: int | None) -> tuple[int, ...]:
    """Of sorted lengths those at `PLACES`, rounded, within `limit` cached tokens, and each well above the last."""
    most = max(1, limit - LEFT) if limit else None
    found: list[int] = []
    for place in PLACES:
        middle = middles[int(place * len(middles))]
        context = max(ROUNDED_TO, round(middle / ROUNDED_TO) * ROUNDED_TO)
        context = min(context, most) if most else context
        if not found or context >= DISTINCT * found[-1]:
            found.append(context)
    return tuple(found)
