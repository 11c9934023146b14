import math

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `hf`")
pytest.importorskip("transformers", reason="needs the extra `hf`")

from specprof.engines.huggingface.detail import token_detail  # noqa: E402

SAMPLED = {"temperature": 0.7, "top_k": 12}


def test_probabilities_are_those_of_the_drafted_tokens():
    """ln 1, ln 2, ln 5 are 1/8, 2/8 and 5/8; of the third row there is no draft."""
    row = torch.tensor([0.0, math.log(2), math.log(5)])
    detail = token_detail([2, 0], row.expand(1, 2, 3), row.flip(0).expand(1, 3, 3))
    assert detail["draft_ids"] == (2, 0)
    assert detail["confidence"] == pytest.approx((0.625, 0.125))
    assert detail["target_prob"] == pytest.approx((0.125, 0.625))


def test_a_drafter_without_logits_has_no_confidence():
    assert token_detail([1], None, torch.zeros(1, 2, 4)) == {
        "draft_ids": (1,),
        "confidence": None,
        "target_prob": (0.25,),
    }


@pytest.mark.parametrize("sampling", [{}, SAMPLED])
def test_detail_is_what_a_plain_pass_over_the_text_gives(bench, reference, sampling):
    """The target at the distribution it was verified at; the draft at the one it drafted from, warped twice."""
    arm = bench.arm(k=3, **sampling)
    (request,) = bench.run(bench.job(arm, max_tokens=12), token_detail=True)
    ids = list(request.prompt_ids)
    for step, length in zip(request.rounds, _lengths(request), strict=True):
        text = ids + list(request.output_ids[:length]) + list(step.draft_ids)
        target, draft = (reference.forward(bench.models[name], text) for name in ("target", "noisy"))
        if sampling:
            target, draft = reference.warp(target, arm), reference.warp(reference.warp(draft, arm), arm)
        places = range(len(text) - len(step.draft_ids) - 1, len(text) - 1)
        for logits, seen in ((target, step.target_prob), (draft, step.confidence or ())):
            expected = [float(logits[place].softmax(-1)[text[place + 1]]) for place in places]
            assert seen == pytest.approx(expected, rel=1e-3, abs=1e-6)


def _lengths(request):
    return [sum(r.emitted for r in request.rounds[:index]) for index in range(len(request.rounds))]


def test_every_round_has_ids_and_target_probabilities_and_counts_do_not_change(bench):
    for method in ("draft_model", "prompt_lookup"):
        job = bench.job(bench.arm(method))
        (plain,), (detailed,) = bench.run(job), bench.run(job, token_detail=True)
        assert {(r.draft_ids, r.target_prob, r.confidence) for r in plain.rounds} == {(None, None, None)}
        assert [(r.proposed, r.accepted) for r in plain.rounds] == [(r.proposed, r.accepted) for r in detailed.rounds]
        for r in detailed.rounds:
            assert r.draft_ids[: r.accepted] == detailed.output_ids[_before(detailed, r) :][: r.accepted]
            assert len(r.target_prob) == r.proposed
            assert (r.confidence is None) is (method == "prompt_lookup" or r.proposed == 0)


def _before(request, round):
    index = next(i for i, other in enumerate(request.rounds) if other is round)
    return sum(r.emitted for r in request.rounds[:index])


def test_greedy_universal_decoding_has_no_confidence_in_words_of_the_target(pair):
    bench = pair("universal")
    (request,) = bench.run(bench.job(bench.arm("universal")), token_detail=True)
    assert {r.confidence for r in request.rounds} == {None}
    assert all(len(r.draft_ids) == r.proposed for r in request.rounds)
