"""The engine contract, for the tests of anyone who writes an engine.

A test of yours says `assert_engine_contract(MyEngine)`.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from specprof.capture.plan import plan
from specprof.capture.session import Spec, execute
from specprof.engines.base import Engine
from specprof.errors import SpecprofError
from specprof.records import BASELINE, FINISH_REASONS, Arm, EngineConfig, Job, Prompt, Request, Round
from specprof.store.read import read_run

MEMBERS = ("capabilities", "check", "__enter__", "__exit__", "describe", "generate")
PROMPTS = (
    Prompt(id="one", task="code", text="the quick brown fox"),
    Prompt(id="two", task="chat", text="over the lazy dog and the fox", output_tokens=3),
)


def assert_engine_contract(
    factory: Callable[[], Engine],
    *,
    model: str | None = None,
    arm: Arm | None = None,
    prompts: Sequence[Prompt] = PROMPTS,
    max_tokens: int = 12,
) -> None:
    """Run the engine of `factory` on a few jobs and assert every promise that the rest of specprof rests on.

    `model` is the target of an engine that loads one, `arm` the speculative arm to try (default: the engine's first
    method with k = 3); `prompts` replaces the two built-in ones. Raises `AssertionError` with the broken promise.
    """
    engine = factory()
    lacking = [name for name in MEMBERS if not hasattr(engine, name)]
    assert not lacking, f"the engine lacks {', '.join(lacking)}: see `specprof.engines.base.Engine`"
    method = next((name for name in engine.capabilities.methods if name != "none"), None)
    assert method, f"capabilities.methods is {engine.capabilities.methods}: name at least one speculative method"
    arms = [arm or Arm(id="speculative", method=method, k=3)]
    if "none" in engine.capabilities.methods:
        arms.append(Arm(id=BASELINE, method="none"))
    config = EngineConfig(arms=tuple(arms), model=model, max_tokens=max_tokens)
    engine.check(config)
    _refuses_a_wrong_arm(factory(), config, arms[0])
    jobs = plan(prompts, arms, max_tokens=max_tokens)
    with tempfile.TemporaryDirectory() as folder:
        spec = Spec(engine_name="under-test", config=config, jobs=jobs, prompts={"sha256": "", "count": len(prompts)})
        execute(engine, spec, Path(folder) / "run")
        table = read_run(Path(folder) / "run").table
    measured = table.filter([phase == "measure" for phase in table["phase"].to_pylist()])
    keys = sorted(zip(*(measured[name].to_pylist() for name in ("prompt_id", "sample", "arm")), strict=True))
    assert keys == sorted(job.key for job in jobs), "every job must come back exactly once"
    assert all(measured["complete"].to_pylist()), "every finished request is complete"
    _greedy_arms_agree(measured.to_pylist(), arms)
    lost = [reason in ("skipped", "error") for reason in measured["finish_reason"].to_pylist()]
    assert not all(lost), "no request was answered: give `prompts` that the engine can run"
    _live_rounds_and_identities(factory(), config, arms, prompts, max_tokens)


def _greedy_arms_agree(rows: Sequence[Mapping[str, Any]], arms: Sequence[Arm]) -> None:
    """Greedy speculation must give the baseline's answer: as long, and the same where the engine hashes answers."""
    answers: dict[str, set[tuple[bytes | None, int]]] = {}
    for row in rows:
        answers.setdefault(row["prompt_id"], set()).add((row["output_sha256"], row["response_tokens"]))
    if all(arm.temperature == 0 for arm in arms):
        for prompt, found in answers.items():
            assert len(found) == 1, f"prompt {prompt}: a greedy arm answers otherwise than the baseline"


def _refuses_a_wrong_arm(engine: Engine, config: EngineConfig, arm: Arm) -> None:
    wrong = replace(config, arms=(Arm(id="wrong", method="no-such-method", k=arm.k),))
    refused = ""
    try:
        engine.check(wrong)
    except SpecprofError as error:
        refused = str(error)
    assert "no-such-method" in refused, "`check` must refuse a method that the engine lacks, and name it"


def _live_rounds_and_identities(
    engine: Engine, config: EngineConfig, arms: Sequence[Arm], prompts: Sequence[Prompt], max_tokens: int
) -> None:
    pulled: list[str] = []
    live: dict[str, list[Round]] = {}
    ended: list[str] = []

    def jobs() -> Iterator[Job]:
        for number, planned in enumerate(plan(prompts, arms, max_tokens=max_tokens)):
            waiting = len(pulled) - len(ended)
            assert waiting < engine.capabilities.max_batch, f"{waiting} jobs pulled ahead: max_batch is the most"
            name = f"contract-{number}"
            pulled.append(name)
            live[name] = []
            yield Job(
                request_id=name,
                prompt=planned.prompt,
                sample=planned.sample,
                arm=planned.arm,
                seed=planned.seed,
                max_tokens=planned.max_tokens,
                on_round=live[name].append,
            )

    engine.check(config)
    with engine:
        described = engine.describe()
        assert described.get("engine"), "`describe` names the engine"
        assert described.get("engine_version"), "`describe` gives the engine's version"
        for request in engine.generate(jobs()):
            ended.append(request.request_id)
            k = next(arm.k for arm in arms if arm.id == request.arm)
            _assert_request(request, live[request.request_id], engine, k)
    assert sorted(ended) == sorted(pulled), "every pulled job must end"


def _assert_request(request: Request, live: Sequence[Round], engine: Engine, k: int) -> None:
    name = f"{request.request_id} ({request.arm})"
    assert (fault := request.problem()) is None, f"{name}: {fault}"
    assert request.unbalanced == 0, f"{name}: rounds miss {request.unbalanced} of {request.response_tokens} tokens"
    most = max((step.drafted for step in request.rounds), default=0)
    assert most <= k, f"{name}: {most} tokens drafted in a round of an arm with k = {k}"
    for field in ("ttft_us", "latency_us", "queue_us"):
        assert isinstance(getattr(request, field), int | None), f"{name}: {field} is a whole number of microseconds"
    if live:
        counts = [(r.proposed, r.drafted, r.accepted, r.emitted) for r in request.rounds]
        assert [(r.proposed, r.drafted, r.accepted, r.emitted) for r in live] == counts, f"{name}: live rounds differ"
    assert request.finish_reason in FINISH_REASONS, f"{name}: finish_reason {request.finish_reason!r}: {FINISH_REASONS}"
    cut = bool(request.rounds) and request.rounds[-1].censored
    assert (request.censor_reason is not None) == cut, f"{name}: censor_reason is there exactly if the end cut a round"
    assert request.max_tokens is None or request.response_tokens <= request.max_tokens, f"{name}: over max_tokens"
    if request.arm != BASELINE and request.finish_reason != "skipped":
        expected = engine.capabilities.first_tokens
        assert request.first_tokens == expected, f"{name}: first_tokens {request.first_tokens}, declared {expected}"
    if request.ttft_us is not None and request.latency_us is not None:
        assert 0 <= request.ttft_us <= request.latency_us, f"{name}: the first token came after the last"
