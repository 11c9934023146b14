"""The contract kit passes engines that keep the contract and fails each kind of engine that does not."""

from dataclasses import replace

import pytest

from specprof.engines.simulated import BlockEngine, PrefixEngine
from specprof.errors import SpecprofError
from specprof.records import Capabilities, Job, Round
from specprof.testing import assert_engine_contract


@pytest.mark.parametrize("engine", [PrefixEngine, BlockEngine])
def test_the_simulated_engines_keep_the_contract(engine):
    assert_engine_contract(engine)


def test_the_hugging_face_engine_keeps_the_contract(bench):
    from specprof.engines.huggingface import HuggingFaceEngine

    for arm in (bench.arm("prompt_lookup", k=3), bench.arm("draft_model", k=3)):
        assert_engine_contract(HuggingFaceEngine, model=bench.folders["target"], arm=arm)


class Altered(PrefixEngine):
    """A sound engine whose requests pass through `alter`."""

    def alter(self, request):
        return request

    def generate(self, jobs):
        return map(self.alter, super().generate(jobs))


class CountsPastTheEnd(Altered):
    def alter(self, request):
        return replace(request, response_tokens=request.response_tokens - 1) if request.rounds else request


class AcceptsMoreThanItDrafts(Altered):
    def alter(self, request):
        return replace(request, rounds=(*request.rounds[:-1], Round(1, 1, 2, 2))) if request.rounds else request


class ReturnsOtherRoundsThanItShowed(Altered):
    def alter(self, request):
        return replace(request, rounds=tuple(replace(r, proposed=r.proposed + 1) for r in request.rounds))


class DraftsInTheBaseline(Altered):
    def alter(self, request):
        tokens = request.response_tokens - 1
        return request if request.rounds else replace(request, rounds=(Round(tokens, tokens, tokens - 1, tokens),))


class ForgetsTheFinishReason(Altered):
    def alter(self, request):
        return replace(request, finish_reason=None)


class AnswersBeforeItStarts(Altered):
    def alter(self, request):
        return replace(request, latency_us=request.ttft_us - 1)


class GoesPastMaxTokens(Altered):
    def alter(self, request):
        return request if request.rounds else replace(request, response_tokens=request.max_tokens + 1)


class InventsRequests(Altered):
    def alter(self, request):
        return replace(request, request_id="mine")


class LosesJobs(PrefixEngine):
    def generate(self, jobs):
        return (request for index, request in enumerate(super().generate(jobs)) if index != 1)


class PullsAhead(PrefixEngine):
    def generate(self, jobs):
        return super().generate(list(jobs))


class TakesAnything(PrefixEngine):
    def check(self, config):
        pass


class IsNameless(PrefixEngine):
    def describe(self):
        return {"engine_version": "1"}


class OnlyDecodesPlainly(PrefixEngine):
    capabilities = Capabilities(methods=("none",))


class LacksMembers:
    capabilities = Capabilities(methods=("simulated",))


class AnswersOtherwiseWhenItSpeculates(Altered):
    def alter(self, request):
        return replace(request, output_sha256=request.arm.encode())


class AnswersForAnotherArm(Altered):
    def alter(self, request):
        return replace(request, arm="other")


class SpeaksOfNoCause(Altered):
    def alter(self, request):
        return replace(request, censor_reason=None, finish_reason="whim")


class AnswersShorterWhenItDecodesPlainly(Altered):
    def alter(self, request):
        return request if request.rounds else replace(request, response_tokens=request.response_tokens // 2)


class DraftsMoreThanItsArm(PrefixEngine):
    def generate(self, jobs):
        return super().generate(replace(job, arm=replace(job.arm, k=job.arm.k * 3)) for job in jobs)


class AnswersNothing(Altered):
    def alter(self, request):
        return replace(
            request,
            rounds=(),
            response_tokens=0,
            first_tokens=0,
            finish_reason="skipped",
            censor_reason=None,
            first_chunk_tokens=None,
        )


class MeasuresInFractions(Altered):
    def alter(self, request):
        return replace(request, ttft_us=request.ttft_us + 0.5, latency_us=request.latency_us + 1.5)


class SwallowsItsFailure(PrefixEngine):
    def generate(self, jobs):
        yield from super().generate([next(iter(jobs))])
        raise RuntimeError("the device fell off the bus")

    def __exit__(self, *error):
        return True


BROKEN = {
    AnswersShorterWhenItDecodesPlainly: "answers otherwise than the baseline",
    DraftsMoreThanItsArm: "9 tokens drafted",
    AnswersNothing: "no request was answered",
    MeasuresInFractions: "ttft_us is .* no int",
    SwallowsItsFailure: "swallowed its failure",
    CountsPastTheEnd: "response tokens",
    AcceptsMoreThanItDrafts: "accepted 2",
    ReturnsOtherRoundsThanItShowed: "live rounds differ",
    DraftsInTheBaseline: "in a round of an arm with k = 0",
    ForgetsTheFinishReason: "finish_reason None",
    AnswersForAnotherArm: "arm is 'other', the job's is 'speculative'",
    SpeaksOfNoCause: "finish_reason is 'whim'",
    AnswersBeforeItStarts: "ttft_us",
    GoesPastMaxTokens: "over max_tokens|answers otherwise",
    InventsRequests: "which is not open",
    LosesJobs: "ended without request",
    PullsAhead: "jobs pulled ahead",
    TakesAnything: "must refuse a method",
    IsNameless: "names the engine",
    OnlyDecodesPlainly: "at least one speculative method",
    LacksMembers: "the engine lacks check",
    AnswersOtherwiseWhenItSpeculates: "answers otherwise than the baseline",
}


@pytest.mark.parametrize("engine", BROKEN)
def test_a_broken_promise_is_found_and_named(engine):
    with pytest.raises((AssertionError, SpecprofError), match=BROKEN[engine]):
        assert_engine_contract(engine)


def test_the_kit_gives_the_engine_jobs_that_can_be_told_apart():
    seen = []

    class Watching(PrefixEngine):
        def generate(self, jobs):
            for job in jobs:
                assert isinstance(job, Job)
                seen.append((job.prompt.id, job.arm.id, job.phase))
                yield from super().generate([job])

    assert_engine_contract(Watching)
    assert {arm for _, arm, _ in seen} == {"speculative", "baseline"}
    assert {phase for _, _, phase in seen} == {"warmup", "measure"}
