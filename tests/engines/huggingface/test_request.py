import hashlib
import importlib
import sys
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specprof.engines.huggingface import HuggingFaceEngine
from specprof.errors import EnvironmentError_, UsageError
from specprof.records import Prompt

torch = pytest.importorskip("torch", reason="needs the extra `hf`")
pytest.importorskip("transformers", reason="needs the extra `hf`")

from specprof.engines.huggingface.request import _finish_reason, run  # noqa: E402

KINDS = st.sampled_from(["draft_model", "prompt_lookup"])


@settings(max_examples=25, deadline=None)
@given(
    KINDS, st.integers(1, 8), st.integers(0, 99), st.integers(0, 9), st.integers(1, 30), st.sampled_from([0, 0.5, 1.5])
)
def test_every_request_balances_and_is_the_reference_s(bench, method, k, index, seed, max_tokens, temperature):
    arm = bench.arm(method, k, temperature=temperature)
    (request,) = bench.compare(bench.job(arm, index, max_tokens, seed))
    assert (request.problem(), request.unbalanced, request.first_tokens, request.complete) == (None, 0, 0, True)
    assert request.censor_reason == (request.finish_reason if request.rounds[-1].censored else None)
    assert request.response_tokens <= max_tokens


@pytest.mark.parametrize("method", ["draft_model", "prompt_lookup"])
def test_greedy_output_is_plain_decoding_s(bench, method):
    arm, plain = bench.arm(method, k=5), bench.baseline()
    requests = bench.run(*[bench.job(one, index, 40) for index in range(10) for one in (arm, plain)])
    for assisted, baseline in zip(requests[::2], requests[1::2], strict=True):
        assert assisted.output_ids == baseline.output_ids
        assert assisted.output_sha256 == baseline.output_sha256
        assert (baseline.rounds, baseline.censor_reason, baseline.first_chunk_tokens) == ((), None, 1)


def test_an_end_inside_the_accepted_run_censors_the_round(bench):
    """Sampled hot from its equal, the target accepts every draft; one that ends in EOS is followed by nothing."""
    arm = bench.arm(k=6, draft="same", temperature=1.0)
    requests = bench.compare(*[bench.job(arm, 3, 60, seed) for seed in range(6)], draft="same")
    cut = [request for request in requests if request.censor_reason]
    assert cut
    for request in cut:
        last = request.rounds[-1]
        assert (request.finish_reason, request.censor_reason) == ("eos", "eos")
        assert last.emitted == last.accepted == last.drafted
        assert last.accepted_raw is None


def test_max_tokens_inside_the_accepted_run_censors_the_round(bench):
    """Lookup drafts past the limit. Greedy, so verification shows what it accepted before the cut."""
    arm = bench.arm("prompt_lookup", k=8)
    requests = bench.compare(*[bench.job(arm, index, max_tokens) for index in range(8) for max_tokens in (25, 29, 33)])
    cut = [request for request in requests if request.censor_reason == "length"]
    assert cut
    for request in cut:
        last = request.rounds[-1]
        assert last.emitted == last.accepted <= last.accepted_raw <= last.drafted
        assert request.response_tokens == request.max_tokens
    assert any(request.rounds[-1].accepted < request.rounds[-1].accepted_raw for request in cut)


def test_a_single_new_token_is_one_round_without_a_draft(bench):
    for method in ("draft_model", "prompt_lookup"):
        (request,) = bench.compare(bench.job(bench.arm(method), max_tokens=1))
        (only,) = request.rounds
        assert (only.drafted, only.emitted, only.drafter_ran) == (0, 1, False)


def test_lookup_that_finds_nothing_has_still_searched(bench):
    asked = Prompt(id="n", task="t", text="w2 w3 w4")
    (request,) = bench.compare(bench.job(bench.arm("prompt_lookup"), prompt=asked))
    assert (request.rounds[0].drafted, request.rounds[0].drafter_ran) == (0, True)


def test_the_token_under_the_threshold_is_still_proposed(bench):
    """No token of the draft is 99.99 % sure: every round proposes one and stops."""
    arm = bench.arm(k=8, schedule="confidence", threshold=0.9999)
    (request,) = bench.compare(bench.job(arm))
    assert {r.proposed for r in request.rounds if r.drafter_ran} == {1}


@pytest.fixture
def tuning(monkeypatch):
    """scikit-learn as transformers sees it, with an opinion: the best threshold is 0.9999. Returns its calls."""
    calls = []

    def roc_curve(matches, probabilities):
        calls.append(len(matches))
        return np.array([0.0, 1.0]), np.array([1.0, 1.0]), np.array([0.9999, 0.0])

    metrics = ModuleType("sklearn.metrics")
    metrics.roc_curve = roc_curve
    monkeypatch.setitem(sys.modules, "sklearn", ModuleType("sklearn"))
    monkeypatch.setitem(sys.modules, "sklearn.metrics", metrics)
    generators = importlib.import_module("transformers.generation.candidate_generator")
    monkeypatch.setattr(generators, "is_sklearn_available", lambda: True)
    return calls


def test_the_threshold_stays_where_it_is_when_scikit_learn_would_tune_it(bench, tuning):
    arm = bench.arm(k=8, schedule="confidence", threshold=0.05)
    bench.compare(*[bench.job(arm, index, 40) for index in range(4)])
    assert tuning


def test_a_constant_k_is_not_tuned(bench, tuning):
    bench.compare(*[bench.job(bench.arm(k=6), index, 40) for index in range(4)])
    assert not tuning


def test_times_are_there_from_the_second_round_and_add_up(bench):
    for method in ("draft_model", "prompt_lookup"):
        live = []
        (request,) = bench.run(bench.job(bench.arm(method), max_tokens=30, on_round=live.append))
        first, *later = request.rounds
        assert tuple(live) == request.rounds
        assert (first.draft_us, first.verify_us, first.step_us) == (None, None, None)
        assert all(r.draft_us >= 0 and r.verify_us > 0 and r.draft_us + r.verify_us <= r.step_us for r in later)
        assert sum(r.step_us for r in later) <= request.latency_us
        assert 0 < request.ttft_us < request.latency_us
        assert request.first_chunk_tokens == first.emitted
        assert request.started_at > 1.7e9


class LateClock:
    """As on a GPU: nothing can be read before the request has settled. A mark is a microsecond after the last."""

    live = False

    def __init__(self):
        self.now, self.settled = 0, False

    def mark(self):
        self.now += 1000
        return self.now

    def settle(self, mark):
        self.settled = True

    def between(self, start, end):
        assert self.settled
        return end - start


def test_with_events_the_rounds_go_out_untimed_and_the_request_is_timed(bench):
    engine, live = HuggingFaceEngine(), []
    arm = bench.arm()
    engine.check(bench.config(arm))
    with engine:
        request = run(engine._loaded, bench.job(arm, on_round=live.append), LateClock())
    assert {(r.draft_us, r.verify_us, r.step_us) for r in live} == {(None, None, None)}
    assert {(r.draft_us, r.verify_us, r.step_us) for r in request.rounds[1:]} == {(1, 1, 3)}
    assert [r.emitted for r in live] == [r.emitted for r in request.rounds]


def test_the_same_seed_gives_the_same_output_and_another_seed_another(bench):
    for arm in (bench.arm(temperature=1.0), bench.baseline(temperature=1.0)):
        one, again, other = bench.run(*[bench.job(arm, seed=seed) for seed in (5, 5, 6)])
        assert one.output_ids == again.output_ids != other.output_ids
        assert (one.seed, other.seed) == (5, 6)


def test_top_p_hides_part_of_the_vocabulary_from_prompt_lookup(bench):
    """A fault of transformers 5.24 that the run records as a note: at top_p 0.5 half the ids are never proposed.
    The prompts `a b c … h a b` go through the vocabulary, and each has the six words `c … h` to propose."""
    starts = range(2, 54, 6)
    texts = [" ".join(f"w{id}" for id in [*range(start, start + 8), start, start + 1]) for start in starts]
    for top_p, whole in ((None, True), (0.5, False)):
        arm = bench.arm("prompt_lookup", k=6, temperature=0.5, top_p=top_p)
        requests = bench.run(*[bench.job(arm, prompt=Prompt(id=text, task="t", text=text)) for text in texts])
        assert all(request.rounds[0].proposed == 6 for request in requests) is whole


def test_output_hash_is_of_the_ids_as_little_endian_int32(bench):
    (request,) = bench.run(bench.job(bench.arm(), max_tokens=5))
    expected = hashlib.sha256(np.array(request.output_ids, dtype="<i4").tobytes()).digest()
    assert request.output_sha256 == expected


def test_text_is_kept_only_when_asked_for(bench):
    job = bench.job(bench.arm(), max_tokens=6)
    (kept,), (dropped,) = bench.run(job), bench.run(job, save_text=False)
    assert kept.prompt_text == job.prompt.text
    assert kept.output_text.split() == [f"w{id}" for id in kept.output_ids]
    assert len(kept.prompt_ids) == kept.prompt_tokens
    assert (dropped.prompt_text, dropped.output_text, dropped.prompt_ids, dropped.output_ids) == (None,) * 4
    assert dropped.output_sha256 == kept.output_sha256


@pytest.mark.parametrize("length", [160, 161])
def test_a_prompt_that_fills_the_context_is_skipped_and_counted(bench, length):
    asked = Prompt(id="long", task="t", text=" ".join(["w5"] * length))
    for arm in (bench.arm(), bench.baseline()):
        (request,) = bench.run(bench.job(arm, prompt=asked))
        assert (request.finish_reason, request.prompt_tokens, request.response_tokens) == ("skipped", length, 0)
        assert request.excluded == {"prompt longer than the context": 1}


def test_max_tokens_is_lowered_to_the_room_in_the_context(bench):
    asked = Prompt(id="long", task="t", text=" ".join(["w5"] * 157))
    for arm in (bench.arm(), bench.arm("prompt_lookup"), bench.baseline()):
        (request,) = bench.run(bench.job(arm, prompt=asked, max_tokens=24))
        assert request.max_tokens == 3
        assert request.response_tokens <= 3


def test_a_prompt_without_tokens_is_skipped_and_counted(bench):
    asked = Prompt(id="empty", task="t", text="   ")
    (request,) = bench.run(bench.job(bench.arm(), prompt=asked))
    assert request.excluded == {"prompt without tokens": 1}


def test_zero_new_tokens_are_a_usage_fault(bench):
    with pytest.raises(UsageError, match="asks for 0 new tokens"):
        bench.run(bench.job(bench.arm(), max_tokens=0))


@pytest.mark.parametrize(("output", "reason"), [((5, 1), "eos"), ((5, 1, 5), "length"), ((5, 5), "stop")])
def test_the_finish_reason_is_read_off_the_output(output, reason):
    assert _finish_reason(output, eos_ids=(1, 2), max_tokens=3) == reason


def test_an_end_at_the_limit_is_an_end():
    assert _finish_reason((5, 5, 2), eos_ids=(1, 2), max_tokens=3) == "eos"


def around_assisted_decoding(monkeypatch, change):
    mixin = importlib.import_module("transformers").GenerationMixin
    original = mixin._assisted_decoding
    monkeypatch.setattr(mixin, "_assisted_decoding", lambda self, *args, **kwargs: change(self, original, args, kwargs))


def test_a_transformers_that_goes_round_the_seam_is_an_error(bench, monkeypatch):
    def unseen(model, original, args, kwargs):
        ours = vars(model).pop("_get_candidate_generator")
        try:
            return original(model, *args, **kwargs)
        finally:
            model._get_candidate_generator = ours

    around_assisted_decoding(monkeypatch, unseen)
    with pytest.raises(EnvironmentError_, match=r"transformers 5\.\S+ never called the candidate generator"):
        bench.run(bench.job(bench.arm()))


def test_tokens_that_no_round_accounts_for_are_an_error(bench, monkeypatch):
    def shortened(model, original, args, kwargs):
        return original(model, *args, **kwargs)[:, :-1]

    around_assisted_decoding(monkeypatch, shortened)
    with pytest.raises(EnvironmentError_, match=r"transformers 5\.\S+ emitted -1 tokens outside of rounds"):
        bench.run(bench.job(bench.arm()))


def test_models_are_as_before_after_a_request_that_failed(bench):
    def fail(round):
        raise OSError("disk full")

    engine, arm = HuggingFaceEngine(), bench.arm(k=3)
    engine.check(bench.config(arm))
    with engine:
        models = engine._loaded
        before = models.drafts[arm.draft].generation_config
        with pytest.raises(OSError, match="disk full"):
            list(engine.generate([bench.job(arm, on_round=fail)]))
        assert "_get_candidate_generator" not in vars(models.target)
        assert models.drafts[arm.draft].generation_config is before
