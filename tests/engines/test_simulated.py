import statistics

import pytest

from specprof.engines.simulated import BlockEngine, PrefixEngine, Truth
from specprof.errors import UsageError
from specprof.records import Arm, EngineConfig, Job, Prompt


def request(engine, k=4, seed=1, max_tokens=40, output_tokens=None, method="simulated"):
    prompt = Prompt(id="p", task="code", text="one two three", output_tokens=output_tokens)
    job = Job("r", prompt, 0, Arm(id="a", method=method, k=k), seed, max_tokens)
    (result,) = engine.generate([job])
    return result


def test_the_same_seed_gives_the_same_request_and_another_seed_another():
    assert request(PrefixEngine(), seed=3) == request(PrefixEngine(), seed=3)
    assert request(PrefixEngine(), seed=3) != request(PrefixEngine(), seed=4)


def matches(result):
    """Text position → whether the draft was right there, as far as the rounds tell; position 0 is the prefill's."""
    at, known = 1, {}
    for step in result.rounds:
        known |= dict.fromkeys(range(at, at + step.accepted), True)
        if step.regenerated:
            known[at + step.accepted] = False
        at += step.emitted
    return known


@pytest.mark.parametrize("seed", range(20))
def test_prefix_matches_belong_to_the_text_whatever_k_is(seed):
    one, other = (matches(request(PrefixEngine(), k=k, seed=seed)) for k in (2, 7))
    shared = one.keys() & other.keys()
    assert len(shared) > 5
    assert all(one[at] == other[at] for at in shared)


def test_block_matches_do_not():
    differ = 0
    for seed in range(20):
        one, other = (matches(request(BlockEngine(), k=k, seed=seed)) for k in (2, 7))
        differ += sum(one[at] != other[at] for at in one.keys() & other.keys())
    assert differ > 0


@pytest.mark.parametrize(("p", "accepted"), [(1.0, 4), (0.0, 0)])
def test_certain_truth_gives_certain_rounds(p, accepted):
    engine = PrefixEngine(Truth(match={"code": p}, spread=0.0))
    result = request(engine, output_tokens=12)
    # 11 tokens after the prefill's own: 5 + 5 + 1 when all match, one per round when none does
    assert [r.emitted for r in result.rounds] == ([5, 5, 1] if accepted else [1] * 11)
    assert [r.accepted for r in result.rounds] == ([4, 4, 1] if accepted else [0] * 11)
    assert result.rounds[-1].censored == (accepted == 4)


def test_times_are_those_of_the_truth():
    engine = PrefixEngine(Truth(alpha=0.2, alpha_round=0.1, beta=0.05, phi=0.01, step_us=1000, prefill_token_us=7))
    result = request(engine)
    assert result.ttft_us == 3 * 7 + 1000
    assert {(r.draft_us, r.verify_us, r.step_us) for r in result.rounds} == {(900, 1200, 2110)}
    assert result.latency_us == result.ttft_us + 2110 * len(result.rounds)
    plain = request(engine, method="none")
    assert plain.latency_us == plain.ttft_us + 1000 * (plain.response_tokens - 1)
    assert (plain.response_tokens, plain.output_sha256) == (result.response_tokens, result.output_sha256)


@pytest.mark.parametrize(
    ("arm", "words"),
    [
        (Arm(id="a", method="draft_model", k=2), "cannot do `draft_model`"),
        (Arm(id="a", method="simulated", k=0), "k = 0"),
        (Arm(id="a", method="simulated", k=2, schedule="confidence"), "`confidence`"),
        (Arm(id="a", method="simulated", k=2, options={"foo": 1}), "no option `foo`"),
        (Arm(id="a", method="simulated", k=2, draft="zzz"), "no `draft`, here zzz"),
        (Arm(id="a", method="simulated", k=2, concurrency=-3), "no `concurrency`, here -3"),
        (Arm(id="a", method="simulated", k=2, rejection_method="x"), "no `rejection_method`"),
    ],
)
def test_what_the_simulation_cannot_do_is_refused(arm, words):
    with pytest.raises(UsageError, match=words):
        PrefixEngine().check(EngineConfig(arms=(arm,)))


def test_calibration_samples_are_the_truth_s_costs_but_for_noise_that_a_repeat_shares():
    truth = Truth(alpha=0.2, alpha_round=0.1, beta=0.05, phi=0.01, step_us=1000)
    arms = [Arm(id="a", method="simulated", k=4), Arm(id="baseline", method="none")]
    samples = list(PrefixEngine(truth).calibrate(arms, [64, 512], 25, []))
    assert {(s.context, s.repeat) for s in samples} == {(c, r) for c in (64, 512) for r in range(25)}

    def ratio(kind, width=0, arm=None):
        plain = {(s.context, s.repeat): s.us for s in samples if s.kind == "plain"}
        found = [s for s in samples if (s.kind, s.width, s.arm) == (kind, width, arm)]
        return statistics.median(s.us / plain[s.context, s.repeat] for s in found)

    assert ratio("round", 0) == pytest.approx(1.01, abs=0.01)
    assert ratio("round", 4) == pytest.approx(1.21, abs=0.01)
    assert ratio("draft", 1, "a") == pytest.approx(0.3, abs=0.01)
    assert ratio("draft", 4, "a") == pytest.approx(0.9, abs=0.01)
    steps = [s.us for s in samples if s.kind == "plain"]
    assert 20 < statistics.stdev(steps) < 100  # the machine of the truth is noisy: 5 %, shared by a repeat


def test_calibration_repeats_itself():
    arms = [Arm(id="a", method="simulated", k=2)]
    assert list(PrefixEngine().calibrate(arms, [8], 2, [])) == list(BlockEngine().calibrate(arms, [8], 2, []))


def configured(engine, **config):
    engine.check(EngineConfig(arms=(Arm(id="a", method="simulated", k=4),), **config))
    return engine


def test_confidence_is_the_chance_that_the_truth_gives_each_place():
    truth = Truth(match={"code": 0.5}, spread=0.0, decay=0.5)
    detailed = request(configured(PrefixEngine(truth), token_detail=True))
    assert {step.confidence for step in detailed.rounds} == {(0.5, 0.25, 0.125, 0.0625)}
    plain = request(PrefixEngine(truth))
    assert [(r.accepted, r.emitted) for r in detailed.rounds] == [(r.accepted, r.emitted) for r in plain.rounds]
    assert {step.confidence for step in plain.rounds} == {None}


def test_a_fixed_length_is_the_length_whatever_the_prompt_says():
    engine = configured(PrefixEngine(), fixed_length=True)
    assert {request(engine, output_tokens=7, seed=seed).response_tokens for seed in range(5)} == {40}


def test_an_answer_has_as_many_words_as_tokens_and_is_there_only_when_asked_for():
    result = request(configured(PrefixEngine(), save_text=True))
    assert len(result.output_text.split()) == len(result.output_ids) == result.response_tokens
    assert request(PrefixEngine()).output_text is None


def test_tokens_are_counted_before_as_they_are_reported_after():
    prompt = Prompt(id="p", task="code", text="one two three")
    assert PrefixEngine().count_tokens(prompt) == request(PrefixEngine()).prompt_tokens == 3
