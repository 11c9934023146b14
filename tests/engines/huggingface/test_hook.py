from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specprof.engines.huggingface.clock import HostClock
from specprof.engines.huggingface.hook import Boundary, common_prefix

torch = pytest.importorskip("torch", reason="needs the extra `hf`")
TOKENS = st.lists(st.integers(0, 3), max_size=6)


class EventClock:
    """A clock as on a GPU: every mark is a microsecond after the last, and nothing can be read before `settle`."""

    live = False

    def __init__(self):
        self.now, self.settled = 0, None

    def mark(self):
        self.now += 1000
        return self.now

    def settle(self, mark):
        self.settled = mark

    def between(self, start, end):
        assert self.settled is not None
        assert end <= self.settled
        return end - start


class Generator:
    """Proposes the same tokens each time; `told` is what reached its own update."""

    requires_model_outputs = False

    def __init__(self, draft, logits=None):
        self.draft, self.logits, self.told = draft, logits, []

    def get_candidates(self, input_ids):
        return torch.cat([input_ids, torch.tensor([self.draft], dtype=torch.long)], dim=-1), self.logits

    def update_candidate_strategy(self, input_ids, scores, num_matches):
        self.told.append(num_matches)


class Model:
    def __init__(self, generator):
        self.made = generator

    def _get_candidate_generator(self):
        return self.made


def play(boundary, generator, *emitted, scores=None, model=None):
    """Run one request whose rounds emit these tokens, from the prompt [9]."""
    model, ids = model or Model(generator), [9]
    with boundary.attached(model):
        watched = model._get_candidate_generator()
        for tokens in emitted:
            watched.get_candidates(torch.tensor([ids]))
            ids += tokens
            watched.update_candidate_strategy(torch.tensor([ids]), scores, len(tokens) - 1)
    return [(r.proposed, r.accepted, r.accepted_raw, r.emitted) for r in boundary.rounds()]


def boundary(clock=None, seen=None, max_tokens=10, greedy=True):
    return Boundary(clock or HostClock(), (seen if seen is not None else []).append, max_tokens, greedy)


def prefer(*tokens):
    return torch.nn.functional.one_hot(torch.tensor([tokens]), 10).float()


def test_accepted_is_what_draft_and_response_share():
    assert play(boundary(), Generator([1, 2, 3]), [1, 2, 7], [5], [1, 2, 3, 4]) == [
        (3, 2, 2, 3),
        (3, 0, 0, 1),
        (3, 3, 3, 4),
    ]


def test_a_cut_greedy_round_tells_what_verification_accepted_before_the_cut():
    """The target agreed with 1, 2, 3 and would add 4, but the response ends after 2."""
    assert play(boundary(), Generator([1, 2, 3]), [1, 2], scores=prefer(1, 2, 3, 4)) == [(3, 2, 3, 2)]


def test_a_cut_sampled_round_does_not_tell():
    assert play(boundary(greedy=False), Generator([1, 2, 3]), [1, 2]) == [(3, 2, None, 2)]


def test_the_last_token_is_left_to_the_target():
    rounds = boundary(max_tokens=2)
    play(rounds, Generator([]), [7], [8])
    assert [r.drafter_ran for r in rounds.rounds()] == [True, False]


def test_a_drafter_that_proposes_for_the_last_token_has_run():
    rounds = boundary(max_tokens=1)
    play(rounds, Generator([1]), [2])
    assert [r.drafter_ran for r in rounds.rounds()] == [True]


def test_a_drafter_that_reads_the_target_s_states_waits_for_the_first_round():
    rounds, generator = boundary(max_tokens=3), Generator([])
    generator.requires_model_outputs = True
    play(rounds, generator, [7], [8], [9])
    assert [r.drafter_ran for r in rounds.rounds()] == [False, True, False]


@pytest.mark.parametrize(("detail", "looks"), [(False, [[1, 2]]), (True, [[1, 2], [1, 2], [1, 2]])])
def test_evidence_is_the_first_draft_and_with_detail_every_one(detail, looks):
    seen, scores = SimpleNamespace(add=lambda draft, logits: looked.append(draft)), torch.zeros(1, 3, 10)
    looked, generator = [], Generator([1, 2], scores)
    rounds = Boundary(HostClock(), lambda _: None, 10, False, None, detail, seen)
    play(rounds, generator, [7], [8], [9], scores=scores)
    assert looked == looks


def test_the_generator_s_own_update_still_runs():
    generator = Generator([1])
    play(boundary(), generator, [1, 2], [5])
    assert generator.told == [1, 0]


def test_on_a_gpu_times_come_with_the_request_and_not_with_the_round():
    """Marks at 1, 2, 3 µs (first round), 4, 5, 6 (second): drafted in 1 µs, verified in 1, 3 from 3 to 6."""
    clock, live = EventClock(), []
    rounds = boundary(clock, live)
    play(rounds, Generator([1]), [1, 2], [3])
    assert [(r.draft_us, r.verify_us, r.step_us) for r in live] == [(None, None, None)] * 2
    assert [(r.draft_us, r.verify_us, r.step_us) for r in rounds.rounds()] == [(None, None, None), (1, 1, 3)]
    assert clock.settled == 6000


def test_on_a_cpu_times_come_with_the_round():
    live = []
    rounds = boundary(seen=live)
    play(rounds, Generator([1]), [1, 2], [3])
    assert (live[0].step_us, tuple(live)) == (None, rounds.rounds())
    assert live[1].draft_us + live[1].verify_us <= live[1].step_us


def test_model_and_generator_are_as_before_even_when_a_round_fails():
    def fail(round):
        raise RuntimeError("disk full")

    generator = Generator([1])
    model = Model(generator)
    with pytest.raises(RuntimeError, match="disk full"):
        play(Boundary(HostClock(), fail, 10, True), generator, [1, 2], model=model)
    assert set(vars(model)) == {"made"}
    assert set(vars(generator)) == {"draft", "logits", "told"}


@given(TOKENS, TOKENS)
def test_the_common_prefix_is_common_and_cannot_be_longer(draft, emitted):
    length = common_prefix(draft, emitted)
    assert draft[:length] == emitted[:length]
    assert draft[length : length + 1] != emitted[length : length + 1] or length == len(draft) == len(emitted)
