"""Buckets of lengths in tokens, for choosing prompts and for reading what they did. Standard library only."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

PROMPT_EDGES = (0, 128, 512, 2048, 8192)
RESPONSE_EDGES = (0, 20, 128, 512, 2048)


def length_labels(edges: Sequence[int]) -> tuple[str, ...]:
    """Half-open buckets: `128-512` holds 128 and not 512; the last one is open, `8192+`."""
    closed = [f"{low}-{high}" for low, high in pairwise(edges)]
    return (*closed, f"{edges[-1]}+")


def length_label(tokens: int, edges: Sequence[int]) -> str:
    return length_labels(edges)[bisect_right(edges, tokens) - 1]
