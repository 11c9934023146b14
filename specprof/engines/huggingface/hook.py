"""The verification boundary of `GenerationMixin._assisted_decoding`, seen from outside.

One loop there is one round: `get_candidates` → forward of the target → accept or reject → `update_candidate_strategy`,
which is the boundary. For one request the two methods of the candidate generator are wrapped, and put back after it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from specprof.engines.huggingface.clock import Clock, Edges, times
from specprof.engines.huggingface.detail import token_detail
from specprof.engines.huggingface.traps import Evidence
from specprof.records import Round


def common_prefix(draft: Sequence[int], emitted: Sequence[int]) -> int:
    """Leading tokens that agree. Exact for `accepted`; transformers' own `num_matches` is cut by EOS and length."""
    pairs = enumerate(zip(draft, emitted, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(draft), len(emitted)))


class Boundary:
    """The rounds of one request of at most `max_tokens`. `pinned` holds the confidence threshold where it is.

    `greedy`: the target keeps its likeliest token. `detail`: record every token; it is read after the boundary, so that
    it falls into `step_us` and into neither of its parts. `evidence` gets the tokens of the first draft, with `detail`
    of every draft.
    """

    def __init__(
        self,
        clock: Clock,
        on_round: Callable[[Round], None],
        max_tokens: int,
        greedy: bool,
        pinned: float | None = None,
        detail: bool = False,
        evidence: Evidence | None = None,
    ) -> None:
        self._clock = clock
        self._on_round = on_round
        self._room = max_tokens
        self._greedy = greedy
        self._pinned = pinned
        self._detail = detail
        self._evidence = evidence
        self._rounds: list[Round] = []
        self._edges: list[Edges] = []

    @contextmanager
    def attached(self, model: Any) -> Iterator[None]:
        """Watch every assisted generation of `model` inside the block."""
        original, generators = model._get_candidate_generator, []

        def watched(*args: Any, **kwargs: Any) -> Any:
            generators.append(generator := original(*args, **kwargs))
            self._watch(generator)
            return generator

        model._get_candidate_generator = watched
        try:
            yield
        finally:
            del model._get_candidate_generator
            for generator in generators:  # else a cycle keeps the draft's cache alive
                vars(generator).pop("get_candidates", None)
                vars(generator).pop("update_candidate_strategy", None)

    def rounds(self) -> tuple[Round, ...]:
        """All rounds with their times; call it when the request has ended."""
        if self._clock.live or not self._edges:
            return tuple(self._rounds)
        self._clock.settle(self._edges[-1].boundary)
        return tuple(self._timed(round, index) for index, round in enumerate(self._rounds))

    def _watch(self, generator: Any) -> None:
        self._reads_states = generator.requires_model_outputs
        propose, update = generator.get_candidates, generator.update_candidate_strategy
        generator.get_candidates = partial(self._drafting, propose)
        generator.update_candidate_strategy = partial(self._verified, generator, update)

    def _drafting(self, propose: Callable[..., Any], input_ids: Any, **kwargs: Any) -> Any:
        start = self._clock.mark()
        candidates, logits = propose(input_ids, **kwargs)
        self._pending = start, self._clock.mark(), candidates, logits, input_ids.shape[1]
        return candidates, logits

    def _verified(
        self, generator: Any, update: Callable[..., None], input_ids: Any, scores: Any, num_matches: int
    ) -> None:
        boundary = self._clock.mark()
        update(input_ids, scores, num_matches)
        if self._pinned is not None:  # with scikit-learn about, the update tunes the threshold
            generator.assistant_generation_config.assistant_confidence_threshold = self._pinned
            generator.generation_config.assistant_confidence_threshold = self._pinned
        start, end, candidates, logits, prefix = self._pending
        self._edges.append(Edges(start, end, boundary))
        self._record(candidates[0, prefix:].tolist(), input_ids[0, prefix:].tolist(), logits, scores)

    def _record(self, draft: list[int], emitted: list[int], logits: Any, scores: Any) -> None:
        seen = Round(
            proposed=len(draft),
            drafted=len(draft),
            accepted=common_prefix(draft, emitted),
            emitted=len(emitted),
            width=len(draft),
            batch=1,
            drafter_ran=bool(draft) or self._drafter_runs(),
        )
        self._room -= len(emitted)
        self._examine(draft, logits)
        detail = token_detail(draft, logits, scores) if self._detail else {}
        round = replace(seen, accepted_raw=self._accepted_raw(seen, draft, scores), **detail)
        self._rounds.append(self._timed(round, len(self._rounds)) if self._clock.live else round)
        self._on_round(self._rounds[-1])

    def _drafter_runs(self) -> bool:
        """The last token is left to the target; a drafter that reads its states also waits for the first."""
        return self._room > 1 and not (self._reads_states and not self._rounds)

    def _examine(self, draft: list[int], logits: Any) -> None:
        if self._evidence is not None and logits is not None:
            self._evidence.add(draft, logits)
            self._evidence = self._evidence if self._detail else None

    def _accepted_raw(self, round: Round, draft: list[int], scores: Any) -> int | None:
        """A round that was not cut shows it; a cut one only when greedy, where the target's choices are in `scores`."""
        if not round.censored:
            return round.accepted
        return common_prefix(draft, scores[0].argmax(-1).tolist()) if self._greedy else None

    def _timed(self, round: Round, index: int) -> Round:
        """The first round holds the prefill of both models: it has no times."""
        if index == 0:
            return round
        return replace(round, **times(self._clock, self._edges[index - 1], self._edges[index])._asdict())
