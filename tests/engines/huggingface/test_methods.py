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

PROVEN_BY_MODELS = dict(PROVEN.values())


def proven(bench, *jobs):
    rounds = [r for request in bench.compare(*jobs) for r in request.rounds]
    accepted, drafted = sum(r.accepted for r in rounds), sum(r.drafted for r in rounds)

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


def test_universal_rounds_under_the_confidence_schedule_are_the_reference_s(pair):
    bench = pair("universal")
    arm = bench.arm("universal", k=4, schedule="confidence", threshold=0.2)
    proven(bench, *[bench.job(arm, index) for index in range(6)])


@pytest.mark.parametrize("sampling", [{}, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("weight", [0.3, 0.9])
def test_rounds_under_an_ensemble_weight_are_the_reference_s(bench, weight, sampling):
    arm = bench.arm(options={"assistant_ensemble_weight": weight}, **sampling)
    proven(bench, *[bench.job(arm, index, seed=index) for index in range(6)])


def test_a_confidence_threshold_stops_an_early_exit(pair):
    bench = pair("layered")
    options = {"early_exit": 4}
    arm = bench.arm("early_exit", k=6, schedule="confidence", threshold=0.3, options=options)
    requests = bench.compare(*[bench.job(arm, index) for index in range(6)])
    assert len({r.proposed for q in requests for r in q.rounds[:-2]}) > 2


@pytest.mark.parametrize(
    ("models", "settings"),
    [
        ("universal", {"method": "universal", "k": 7}),
        ("universal", {"method": "universal", "k": 4, "schedule": "confidence", "threshold": 0.2}),
        *PROVEN.values(),
    ],
)
def test_greedy_output_is_plain_decoding_s(pair, models, settings):
    """Universal decoding slips on text that repeats itself, and drafts again what stands there. It loses no more."""
    bench = pair(models)
    arm = bench.arm(**settings)
    requests = bench.run(*[bench.job(one, index) for index in range(6) for one in (arm, bench.baseline())])
    for assisted, plain in zip(requests[::2], requests[1::2], strict=True):
        assert (assisted.output_ids, assisted.lossy) == (plain.output_ids, None)


@pytest.mark.parametrize("k", [1, 4])
def test_sampled_universal_requests_balance(pair, k):
    """The report of this drafter is wrong (see the traps), so no reference can draw the same tokens."""
    bench = pair("universal")
    arm = bench.arm("universal", k, temperature=0.8)
    requests = bench.run(*[bench.job(arm, index, seed=index) for index in range(8)])
    rounds = [r for request in requests for r in request.rounds]
    assert {(request.problem(), request.unbalanced) for request in requests} == {(None, 0)}
    assert 0 < sum(r.accepted for r in rounds) < sum(r.drafted for r in rounds)
    assert max(r.proposed for r in rounds) == k


def test_a_drafter_that_reads_states_proposes_nothing_in_the_first_round(pair):
    for models in ("mtp", "dflash", "single_position"):
        bench = pair(models)
        (request,) = bench.run(bench.job(bench.arm(**PROVEN_BY_MODELS[models])))
        first, second, *_ = request.rounds
        assert (first.proposed, first.drafter_ran, second.drafter_ran) == (0, False, True)
