"""Every way of drafting is proven here: greedy and sampled, its rounds are those of an independent reference, and its
drafts are neither all accepted nor all rejected."""

import pytest

SAMPLED = {"temperature": 0.8, "top_k": 20, "top_p": 0.95}
PROVEN = {
    "early exit": ("layered", {"method": "early_exit", "k": 4, "options": {"early_exit": 4}}),
    "multi-token prediction": ("mtp", {"method": "mtp", "k": 2}),
    "DFlash": ("dflash", {"method": "dflash", "k": 3}),
    "single position": ("single_position", {"method": "single_position", "k": 3}),
    "encoder-decoder with a draft model": ("seq2seq", {"method": "draft_model", "k": 4}),
}


def proven(bench, *jobs):
    rounds = [r for request in bench.compare(*jobs) for r in request.rounds]
    accepted, drafted = sum(r.accepted for r in rounds), sum(r.drafted for r in rounds)
    print(accepted, drafted)
    assert 0 < accepted < drafted


@pytest.mark.parametrize("sampling", [{}, SAMPLED, {"temperature": 1.3}], ids=["greedy", "sampled", "hot"])
@pytest.mark.parametrize("what", PROVEN)
def test_rounds_are_the_reference_s(pair, what, sampling):
    models, settings = PROVEN[what]
    bench = pair(models)
    arm = bench.arm(**settings, **sampling)
    proven(bench, *[bench.job(arm, index, seed=index) for index in range(6)])


@pytest.mark.parametrize("sampling", [{}, {"temperature": 0.6, "top_k": 10}], ids=["greedy", "sampled"])
def test_an_encoder_decoder_model_looks_up_in_its_own_answer(pair, sampling):
    bench = pair("seq2seq")
    arm = bench.arm("prompt_lookup", **sampling)
    proven(bench, *[bench.job(arm, index, 32, seed=index) for index in range(8)])


@pytest.mark.parametrize("k", [1, 2, 4])
def test_greedy_universal_rounds_are_the_reference_s(pair, k):
    bench = pair("universal")
    arm = bench.arm("universal", k)
    proven(bench, *[bench.job(arm, index, 32) for index in range(8)])
