"""Counts of next tokens after prefixes that many answers to one prompt share."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from specprof.lossless.difference import LEAST_ANSWERS

Answer = tuple[int, ...]

DEEPEST = 8  # tokens of the longest prefix looked at
MOST = 4  # prefixes per length


def next_tokens(answers: Iterable[Answer], prefix: Answer) -> Mapping[int, int]:
    """How often each token follows `prefix`; an answer that ends there has no next token."""
    depth = len(prefix)
    return Counter(answer[depth] for answer in answers if len(answer) > depth and answer[:depth] == prefix)


def shared_prefixes(ours: Sequence[Answer], theirs: Sequence[Answer]) -> Iterator[Answer]:
    """The most frequent ones of each length from 1 on that both samples go on from often enough to be tested.

    A prefix is chosen by the tokens before the place alone, so that what follows it is still an honest sample.
    """
    for depth in range(1, DEEPEST + 1):
        mine, yours = (Counter(answer[:depth] for answer in side if len(answer) > depth) for side in (ours, theirs))
        common = {prefix: min(count, yours[prefix]) for prefix, count in mine.items()}
        enough = [prefix for prefix, count in common.items() if count >= LEAST_ANSWERS]
        yield from sorted(enough, key=lambda prefix: (-common[prefix], prefix))[:MOST]
