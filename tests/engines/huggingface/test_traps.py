import math

import pytest

from specprof.engines.huggingface import HuggingFaceEngine
from specprof.engines.huggingface.traps import Evidence, known, lossy
from specprof.records import Arm

torch = pytest.importorskip("torch", reason="needs the extra `hf`")
WEIGHT = {"assistant_ensemble_weight": 0.5}


@pytest.mark.parametrize(
    ("arm", "flags"),
    [
        ({"method": "draft_model"}, ()),
        ({"method": "draft_model", "temperature": 1.0}, ()),
        ({"method": "draft_model", "temperature": 1.0, "top_k": 5}, ()),
        ({"method": "draft_model", "temperature": 0.8}, ("squared-temperature",)),
        ({"method": "draft_model", "temperature": 1.0, "top_p": 0.9}, ("squared-temperature",)),
        ({"method": "early_exit", "temperature": 0.8}, ("squared-temperature",)),
        ({"method": "mtp", "temperature": 0.8}, ()),
        ({"method": "dflash", "temperature": 0.8}, ()),
        ({"method": "prompt_lookup", "temperature": 0.8}, ()),
        ({"method": "universal"}, ("mismatched-tokenizer",)),
        ({"method": "universal", "temperature": 0.8}, ("squared-temperature", "mismatched-tokenizer")),
        ({"method": "single_position"}, ()),
        ({"method": "single_position", "temperature": 1.0}, ("lossy",)),
        ({"method": "draft_model", "options": WEIGHT}, ("lossy",)),
    ],
)
def test_flags_that_follow_from_the_settings(arm, flags):
    assert known(Arm(id="a", k=2, **arm)) == flags
    assert lossy(Arm(id="a", k=2, **arm)) is ("lossy" in flags)


@pytest.mark.parametrize(("temperature", "drafted_at"), [(0.5, 0.25), (1.0, 1.0)])
def test_a_sampling_draft_model_drafts_at_the_square_of_the_temperature(bench, temperature, drafted_at):
    job = bench.job(bench.arm(k=1, temperature=temperature))
    (request,) = bench.run(job, token_detail=True)
    with torch.no_grad():
        logits = bench.models["noisy"](torch.tensor([request.prompt_ids])).logits[0, -1]
    (token,), (confidence,) = request.rounds[0].draft_ids, request.rounds[0].confidence
    assert confidence == pytest.approx(float((logits / drafted_at).softmax(-1)[token]), rel=1e-3)


def evidence(tokens, logits):
    gathered = Evidence()
    gathered.add(tokens, logits[None])
    return gathered.inconsistent


@pytest.mark.parametrize("spread", [0.1, 1.0, 5.0])
def test_tokens_drawn_from_their_logits_are_believed(spread):
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(2000, 50, generator=generator) * spread
    assert not evidence(torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0].tolist(), logits)


def test_tokens_drawn_from_other_logits_are_not_believed():
    """Each row of the report is the truth shifted by one id, as when logits land in the wrong places."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(40, 50, generator=generator) * 3
    tokens = torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0].tolist()
    assert evidence(tokens, logits.roll(1, dims=-1))


def test_one_token_of_no_probability_is_enough():
    """Probabilities 1/2, 1/2 and 0."""
    logits = torch.tensor([[0.0, 0.0, -math.inf]])
    assert evidence([2], logits)
    assert not evidence([0], logits)


def test_nothing_drafted_is_nothing_seen():
    assert not Evidence().inconsistent


def seen(bench, *jobs, **settings):
    engine = HuggingFaceEngine()
    engine.check(bench.config(*{job.arm.id: job.arm for job in jobs}.values(), **settings))
    with engine:
        requests = list(engine.generate(jobs))
    return engine.traps(), requests


@pytest.mark.parametrize("detail", [False, True])
def test_universal_sampling_reports_logits_that_are_not_those_it_sampled_from(pair, detail):
    bench = pair("universal")
    arm = bench.arm("universal", 4, temperature=1.0)
    # Where the logits land follows the order of a set of strings, which is another one in each process.
    traps, _ = seen(bench, *[bench.job(arm, index, seed=index) for index in range(24)], token_detail=detail)
    assert traps == {"universal": ["mismatched-tokenizer", "inconsistent-draft"]}


@pytest.mark.parametrize(
    ("models", "settings"),
    [
        ("layered", {"method": "early_exit", "options": {"early_exit": 4}}),
        ("mtp", {"method": "mtp", "k": 2}),
        ("dflash", {"method": "dflash", "k": 3}),
        ("seq2seq", {"method": "draft_model"}),
    ],
)
def test_other_drafters_sample_from_what_they_report(pair, models, settings):
    bench = pair(models)
    arm = bench.arm(**settings, temperature=1.0)
    traps, _ = seen(bench, *[bench.job(arm, index, seed=index) for index in range(8)], token_detail=True)
    assert traps == {arm.id: []}


def test_an_ensemble_keeps_what_the_target_would_not_choose(bench):
    arms = [bench.arm(id="half", options={"assistant_ensemble_weight": 0.5}), bench.arm(id="whole")]
    traps, requests = seen(bench, *[bench.job(arm, index) for index in range(8) for arm in arms], save_text=True)
    assert traps == {"half": ["lossy"], "whole": []}
    assert [request.lossy for request in requests] == [True, None] * 8
    assert any(half.output_ids != whole.output_ids for half, whole in zip(requests[::2], requests[1::2], strict=True))


def test_traps_are_known_before_anything_ran(bench):
    engine = HuggingFaceEngine()
    engine.check(bench.config(bench.arm(temperature=0.5), bench.baseline(temperature=0.5)))
    assert engine.traps() == {"draft_model": ["squared-temperature"], "baseline": []}
