"""The order of the jobs: arms interleaved prompt by prompt, at random but from a stored seed."""

import hashlib
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specprof.capture.turns import chain, check_turns
from specprof.errors import UsageError
from specprof.records import MOST_DRAFTED, Arm, Prompt

Block = tuple[Prompt, int]


@dataclass(frozen=True, slots=True)
class Planned:
    """One (prompt, sample, arm). `block` numbers the (prompt, sample) pairs in the order of the plan; the arms of one
    run next to each other, `arm_order` says in which order, so that a slow minute of the machine hits them all."""

    prompt: Prompt
    sample: int
    arm: Arm
    seed: int
    max_tokens: int
    block: int
    arm_order: int

    @property
    def key(self) -> tuple[str, int, str]:
        """What makes the job unique in a run."""
        return (self.prompt.id, self.sample, self.arm.id)


def job_seed(seed: int, prompt_id: str, sample: int) -> int:
    """The same for every arm, so that arms differ in nothing but the method; 32 bits."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{prompt_id}/{sample}".encode()).digest()[:4])


def plan(
    prompts: Sequence[Prompt],
    arms: Sequence[Arm],
    *,
    repeats: int = 1,
    seed: int = 0,
    max_tokens: int = 128,
    fixed_length: bool = False,
) -> list[Planned]:
    """Every job of a run in its order: a pure function of its arguments, whatever the order of prompts and arms, so
    that a resumed run finds its place.

    The turns of a conversation come in their order, others between them. With `fixed_length` every answer has
    `max_tokens`, whatever the prompt asks for.
    """
    _check(arms, repeats, max_tokens)
    by_id = {prompt.id: prompt for prompt in prompts}
    check_turns(by_id, arms)
    rng = random.Random(seed)
    blocks = [(by_id[id], sample) for sample in range(repeats) for id in sorted(by_id)]
    in_order = sorted(arms, key=lambda arm: arm.id)
    rng.shuffle(blocks)
    jobs = []
    for block, (prompt, sample) in enumerate(_turns_in_order(blocks, by_id)):
        order = rng.sample(in_order, len(in_order))
        jobs += [
            Planned(
                prompt=prompt,
                sample=sample,
                arm=arm,
                seed=job_seed(seed, prompt.id, sample),
                max_tokens=max_tokens if fixed_length else prompt.output_tokens or max_tokens,
                block=block,
                arm_order=place,
            )
            for place, arm in enumerate(order)
        ]
    return jobs


def _check(arms: Sequence[Arm], repeats: int, max_tokens: int) -> None:
    if repeats < 1:
        raise UsageError(f"`--repeat {repeats}`", "ask for at least 1")
    for arm in arms:
        if arm.method != "none" and not 1 <= arm.k <= MOST_DRAFTED:
            raise UsageError(f"arm `{arm.id}` drafts k = {arm.k} tokens per round", f"`--k` is 1 to {MOST_DRAFTED}")
    if max_tokens < 1:
        raise UsageError(f"`--max-new-tokens {max_tokens}` leaves nothing to decode", "ask for at least 1")
    if repeats > 1 and all(arm.temperature == 0 for arm in arms):
        raise UsageError(
            f"`--repeat {repeats}` at temperature 0 repeats the same answer", "add `--temperature` or drop `--repeat`"
        )


def _turns_in_order(blocks: Sequence[Block], prompts: Mapping[str, Prompt]) -> list[Block]:
    """A conversation keeps the places that chance gave it; its turns take them in their order."""
    ordered = list(blocks)
    places: defaultdict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for place, (prompt, sample) in enumerate(blocks):
        turns = chain(prompt, prompts)
        places[turns[0].id, sample].append((len(turns), place))
    for taken in places.values():
        for place, (_, source) in zip(sorted(place for _, place in taken), sorted(taken), strict=True):
            ordered[place] = blocks[source]
    return ordered
