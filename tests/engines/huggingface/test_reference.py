"""The key test: what the hook records is what an independent implementation of speculative decoding does."""

import pytest

SAMPLED = {"temperature": 0.8, "top_k": 20, "top_p": 0.95}


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
def test_greedy_rounds_with_a_draft_model_are_the_reference_s(bench, k):
    arm = bench.arm(k=k)
    requests = bench.compare(*[bench.job(arm, index) for index in range(8)])
    assert 0 < sum(r.accepted for q in requests for r in q.rounds) < sum(r.drafted for q in requests for r in q.rounds)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
def test_sampled_rounds_with_a_draft_model_are_the_reference_s(bench, k):
    arm = bench.arm(k=k, **SAMPLED)
    requests = bench.compare(*[bench.job(arm, index, seed=index * 3 + k) for index in range(8)])
    assert 0 < sum(r.accepted for q in requests for r in q.rounds) < sum(r.drafted for q in requests for r in q.rounds)


@pytest.mark.parametrize(("k", "size"), [(1, 1), (3, 2), (5, 2), (8, 3)])
def test_greedy_rounds_with_prompt_lookup_are_the_reference_s(bench, k, size):
    arm = bench.arm("prompt_lookup", k, options={"max_matching_ngram_size": size})
    requests = bench.compare(*[bench.job(arm, index, max_tokens=40) for index in range(8)])
    assert 0 < sum(r.accepted for q in requests for r in q.rounds) < sum(r.drafted for q in requests for r in q.rounds)


@pytest.mark.parametrize(("k", "size"), [(1, 1), (3, 2), (5, 2), (8, 3)])
def test_sampled_rounds_with_prompt_lookup_are_the_reference_s(bench, k, size):
    arm = bench.arm("prompt_lookup", k, temperature=0.6, top_k=10, options={"max_matching_ngram_size": size})
    requests = bench.compare(*[bench.job(arm, index, max_tokens=40, seed=index + 50 * k) for index in range(8)])
    assert 0 < sum(r.accepted for q in requests for r in q.rounds) < sum(r.drafted for q in requests for r in q.rounds)


@pytest.mark.parametrize("sampling", [{}, SAMPLED])
def test_rounds_under_the_confidence_schedule_are_the_reference_s(bench, sampling):
    arm = bench.arm(k=8, schedule="confidence", threshold=0.1, **sampling)
    requests = bench.compare(*[bench.job(arm, index, seed=index) for index in range(8)])
    assert len({r.proposed for q in requests for r in q.rounds[:-2]}) > 2


@pytest.mark.parametrize("k", range(1, 9))
def test_an_equal_draft_is_always_accepted_and_k_is_really_k(bench, k):
    arm = bench.arm(k=k, draft="same")
    (request,) = bench.compare(bench.job(arm, max_tokens=40), draft="same")
    *full, _ = request.rounds
    assert {(r.proposed, r.drafted, r.width, r.accepted, r.emitted) for r in full} == {(k, k, k, k, k + 1)}
