"""Every speculative arm of a configuration held against plain decoding."""

from collections.abc import Mapping, Sequence

from specprof.engines.base import Engine, Scores, check_prompts
from specprof.errors import UsageError
from specprof.lossless import judge, sampling
from specprof.lossless.answers import Answers, OnRequest, collect, drafted
from specprof.lossless.greedy import Score, compare
from specprof.lossless.oracle import Oracle
from specprof.lossless.result import ArmResult, Result
from specprof.records import BASELINE, Arm, EngineConfig, Prompt

FOLLOWS = "turn that follows an answer which the data does not hold"


def verify(
    engine: Engine,
    config: EngineConfig,
    prompts: Sequence[Prompt],
    *,
    samples: int = 1,
    resolution: float = judge.RESOLUTION,
    on_request: OnRequest | None = None,
) -> Result:
    """Run `config`, which holds the baseline and `save_text`, and compare. `samples` are answers per prompt and arm.

    A prompt that follows an answer still to be given is left out: alone it would be another prompt.

    Raises `UsageError` where the request could show nothing: no baseline, one sample per prompt at a temperature,
    answers so short that the drafter is left out, or no prompt that stands by itself.
    """
    arms = list(config.arms)
    plain = next((arm for arm in arms if arm.id == BASELINE), None)
    if plain is None or len(arms) < 2:
        raise UsageError("nothing to compare", "verify needs the baseline and at least one speculative arm")
    _refuse(config, plain, samples)
    prompts, left_out = _alone(prompts)
    engine.check(config)
    check_prompts(engine, prompts)
    with engine:
        settings = {"samples": samples, "seed": config.seed, "max_tokens": config.max_tokens}
        found = collect(engine, prompts, arms, **settings, on_request=on_request)
        described, score = engine.describe(), _score(engine, prompts)
        if plain.temperature:
            tests = sampled(found, Oracle(score, plain) if score else None, config.seed)
            results = [
                _sampled_result(arm, found[arm.id], tests[arm.id], resolution) for arm in arms if arm is not plain
            ]
        else:
            dtype = str(described.get("dtype"))
            results = [greedy_result(arm, found, score, dtype, resolution) for arm in arms if arm is not plain]
    return Result(described, len(prompts), samples, config.max_tokens, plain.temperature, resolution, results, left_out)


def sampled(found: Mapping[str, Answers], oracle: Oracle | None, seed: int) -> dict[str, list[sampling.Check]]:
    """The tests of every arm but the baseline, corrected for their number."""
    plain = found[BASELINE]
    control = sampling.against_target(plain, oracle, seed) if oracle else []
    arms = {arm: answers for arm, answers in found.items() if arm != BASELINE}
    return judge.corrected(
        {a: judge.void(sampling.arm_tests(x, plain, oracle, seed), control) for a, x in arms.items()}
    )


def _sampled_result(arm: Arm, answers: Answers, tests: Sequence[sampling.Check], resolution: float) -> ArmResult:
    counts = drafted(answers)
    verdict = judge.judge_sampled(tests, counts, resolution)
    return ArmResult(arm, verdict, len(list(answers)), counts, answers.left_out, tests=tests)


def greedy_result(
    arm: Arm, found: Mapping[str, Answers], score: Score | None, dtype: str, resolution: float
) -> ArmResult:
    answers, plain = found[arm.id], found[BASELINE]
    pairs = [(ours, theirs) for ours in answers for theirs in plain.requests.get(ours.prompt_id, [])]
    compared, counts = compare(pairs, score, dtype), drafted(answers)
    verdict = judge.judge_greedy(compared, counts, resolution)
    return ArmResult(arm, verdict, len(pairs), counts, answers.left_out, greedy=compared)


def _refuse(config: EngineConfig, plain: Arm, samples: int) -> None:
    if plain.temperature and samples < 2:
        raise UsageError("one sample per prompt shows no distribution", "pass `--repeat 100` or more")
    if not plain.temperature and samples > 1:
        raise UsageError(f"`--repeat {samples}` at temperature 0 repeats the same answer", "add `--temperature 1`")
    deepest = max(arm.k for arm in config.arms)
    if config.max_tokens < deepest + 2:
        raise UsageError(
            f"with {config.max_tokens} new tokens a drafter of k = {deepest} is cut short",
            f"pass `--max-new-tokens {deepest + 2}` or more",
        )


def _alone(prompts: Sequence[Prompt]) -> tuple[list[Prompt], dict[str, int]]:
    """The prompts that need no earlier answer, and how many do, by reason."""
    alone = [prompt for prompt in prompts if prompt.follows is None]
    if not alone:
        raise UsageError(f"no prompt to compare: {FOLLOWS}", "add the first turns, or their answers")
    following = len(prompts) - len(alone)
    return alone, {FOLLOWS: following} if following else {}


def _score(engine: Engine, prompts: Sequence[Prompt]) -> Score | None:
    if not isinstance(engine, Scores):
        return None
    by_id = {prompt.id: prompt for prompt in prompts}
    return lambda prompt, answer: engine.score(by_id[prompt], answer)
