"""With a fixed length nothing ends a response early: neither the target's end of sequence nor the draft's."""

import pytest

KINDS = {
    "early exit": ("layered", {"method": "early_exit", "options": {"early_exit": 4}}),
    "multi-token prediction": ("mtp", {"method": "mtp", "k": 2}),
    "DFlash": ("dflash", {"method": "dflash", "k": 3}),
    "single position": ("single_position", {"method": "single_position", "k": 3}),
    "encoder-decoder": ("seq2seq", {"method": "draft_model"}),
    "encoder-decoder, lookup": ("seq2seq", {"method": "prompt_lookup"}),
}


def hot(bench, requests=4, **settings):
    """Sampled so hot that an end of sequence comes up now and then."""
    arm = bench.arm(**settings, temperature=3.0)
    return [bench.job(arm, index, 30, seed=index) for index in range(requests)]


def check(requests):
    assert {(r.response_tokens, r.finish_reason, r.max_tokens) for r in requests} == {(30, "length", 30)}
    assert any(1 in request.output_ids[:-1] for request in requests)


@pytest.mark.parametrize("method", ["draft_model", "prompt_lookup"])
def test_a_response_goes_on_past_its_ends(bench, method):
    requests = bench.compare(*hot(bench, method=method), fixed_length=True)
    check(requests)


@pytest.mark.parametrize("kind", KINDS)
def test_every_method_goes_on_past_the_ends(pair, kind):
    models, settings = KINDS[kind]
    bench = pair(models)
    check(bench.compare(*hot(bench, **settings), fixed_length=True))


def test_plain_decoding_goes_on_past_the_ends(bench):
    jobs = [bench.job(bench.baseline(temperature=3.0), index, 30, seed=index) for index in range(4)]
    check(bench.run(*jobs, fixed_length=True))


def test_universal_decoding_goes_on_past_the_ends(pair):
    """An end has no text: the draft, which reads the response as text, never sees it."""
    bench = pair("universal")
    check(bench.run(*hot(bench, 16, method="universal"), fixed_length=True))
