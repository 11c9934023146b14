"""What a machine without a GPU cannot show: the reference comparison and the event times on CUDA."""

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `hf`")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")

SAMPLED = {"temperature": 0.8, "top_k": 20}


@pytest.fixture(scope="module")
def bench(bench_on):
    return bench_on("cuda")


@pytest.mark.parametrize("method", ["draft_model", "prompt_lookup"])
@pytest.mark.parametrize("sampling", [{}, SAMPLED])
def test_rounds_on_a_gpu_are_the_reference_s(bench, method, sampling):
    arm = bench.arm(method, k=5, **sampling)
    bench.compare(*[bench.job(arm, index, 40, seed=index) for index in range(8)])


@pytest.mark.parametrize("method", ["draft_model", "prompt_lookup"])
def test_event_times_are_positive_and_fit_into_the_step(bench, method):
    live = []
    (request,) = bench.run(bench.job(bench.arm(method, k=4), max_tokens=40, on_round=live.append))
    assert {(r.draft_us, r.verify_us, r.step_us) for r in live} == {(None, None, None)}
    first, *later = request.rounds
    assert (first.draft_us, first.verify_us, first.step_us) == (None, None, None)
    for r in later:
        assert r.verify_us > 0
        assert r.draft_us > 0 or r.drafted == 0
        assert r.draft_us + r.verify_us <= r.step_us
    assert sum(r.step_us for r in later) <= 1.05 * request.latency_us


def test_the_description_names_the_gpu(bench):
    from specprof.engines.huggingface import HuggingFaceEngine

    engine = HuggingFaceEngine()
    engine.check(bench.config(bench.arm()))
    with engine:
        assert engine.describe()["gpu"] == torch.cuda.get_device_name()
