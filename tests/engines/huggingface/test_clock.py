from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from specprof.engines.huggingface.clock import CudaClock, Edges, HostClock, times

NANOSECONDS = st.integers(0, 10**9)


def test_a_round_s_times_run_from_boundary_to_boundary():
    """Boundary at 1000 µs; draft 1100–1300, verification to 1850: 200 + 550 within 850, 100 of them between."""
    before, round = Edges(0, 0, 1_000_000), Edges(1_100_000, 1_300_000, 1_850_999)
    assert times(HostClock(), before, round) == (200, 550, 850)


@given(NANOSECONDS, NANOSECONDS, NANOSECONDS)
def test_draft_and_verification_never_exceed_the_step(gap, draft, verify):
    before, round = Edges(0, 0, 0), Edges(gap, gap + draft, gap + draft + verify)
    measured = times(HostClock(), before, round)
    assert measured.draft_us + measured.verify_us <= measured.step_us


def test_the_host_clock_moves_forward():
    clock = HostClock()
    assert clock.between(clock.mark(), clock.mark()) >= 0


def test_cuda_milliseconds_become_nanoseconds():
    start = SimpleNamespace(elapsed_time=lambda end: end.at - 2.0)
    assert CudaClock("cuda").between(start, SimpleNamespace(at=2.5)) == 500_000
