import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from specprof.engines.base import CountsTokens, Engine, SeesTraps
from specprof.engines.huggingface import HuggingFaceEngine
from specprof.records import Arm

torch = pytest.importorskip("torch", reason="needs the extra `hf`")


def described(bench, *arms, **settings):
    engine = HuggingFaceEngine()
    engine.check(bench.config(*arms, **settings))
    with engine:
        return engine.describe()


def test_it_is_an_engine():
    assert isinstance(HuggingFaceEngine(), Engine)
    assert HuggingFaceEngine.capabilities.max_batch == 1


def test_importing_the_engine_imports_no_torch():
    code = "import sys, specprof.engines.huggingface; print('torch' in sys.modules or 'transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_the_description_names_models_machine_and_versions(bench):
    seen = described(bench, bench.arm(), threads=1)
    weights = (Path(bench.folders["target"]) / "model.safetensors").read_bytes()
    assert (seen["engine"], seen["target"], seen["draft"]) == (
        "huggingface",
        bench.folders["target"],
        bench.folders["noisy"],
    )
    assert seen["weights"][bench.folders["target"]] == {
        "sha256": {"model.safetensors": hashlib.sha256(weights).hexdigest()}
    }
    assert (seen["dtype"], seen["device"], seen["gpu"], seen["threads"]) == ("float32", "cpu", None, 1)
    assert (seen["eos_ids"], seen["context_tokens"], seen["chat_template_sha256"]) == ([1], 160, None)
    assert seen["raw_special_tokens"] is False


def test_a_dtype_is_used_when_given(bench):
    assert described(bench, bench.arm("prompt_lookup"), dtype="bfloat16")["dtype"] == "bfloat16"


def test_the_template_s_hash_is_that_of_its_text(bench, edited):
    seen = described(bench, bench.arm("prompt_lookup"), model=edited("tokenizer_config.json", chat_template="{{ 1 }}"))
    assert seen["chat_template_sha256"] == hashlib.sha256(b"{{ 1 }}").hexdigest()


def test_threads_are_set_inside_the_block_and_put_back_after_it(bench):
    before = torch.get_num_threads()
    assert described(bench, bench.baseline(), threads=before + 1)["threads"] == before + 1
    assert torch.get_num_threads() == before


def test_several_drafts_run_side_by_side(bench):
    arms = [bench.arm(id=name, draft=name, k=3) for name in ("noisy", "same")]
    assert described(bench, *arms)["draft"] == ", ".join(sorted(bench.folders[name] for name in ("noisy", "same")))
    noisy, same = bench.run(*[bench.job(arm) for arm in arms])
    assert sum(r.accepted for r in noisy.rounds) < sum(r.accepted for r in same.rounds)


def test_the_context_is_the_shortest_of_all_models(bench, tiny, tmp_path):
    short = tiny.save(tiny.build_model(max_position_embeddings=64), tmp_path)
    assert described(bench, Arm(id="a", method="draft_model", draft=short, k=2))["context_tokens"] == 64


def test_decoding_settings_of_a_checkpoint_are_recorded_and_not_used(bench, edited):
    hot = edited(
        "generation_config.json", do_sample=True, temperature=9.0, repetition_penalty=1.9, num_assistant_tokens=7
    )
    arm = bench.arm("prompt_lookup")
    assert described(bench, arm, model=hot)["generation_config"] == {
        hot: {"do_sample": True, "temperature": 9.0, "repetition_penalty": 1.9, "num_assistant_tokens": 7}
    }
    for arm in (bench.arm("prompt_lookup"), bench.arm(), bench.baseline()):
        (plain,), (with_settings,) = bench.run(bench.job(arm)), bench.run(bench.job(arm), model=hot)
        assert plain.output_ids == with_settings.output_ids


def test_a_draft_s_own_settings_are_not_used(bench, edited):
    """A copy of the target that says 7 tokens and a threshold, used as a draft: k stays k, all is accepted."""
    folder = edited("generation_config.json", num_assistant_tokens=7, assistant_confidence_threshold=0.99)
    (request,) = bench.run(bench.job(Arm(id="a", method="draft_model", draft=folder, k=2), max_tokens=13))
    assert {(r.proposed, r.accepted) for r in request.rounds[:-1]} == {(2, 2)}


def test_several_end_ids_all_end_a_response(bench, edited):
    plain = bench.run(bench.job(bench.baseline(), max_tokens=20))[0]
    ends = edited("generation_config.json", eos_token_id=[1, plain.output_ids[4]])
    for arm in (bench.baseline(), bench.arm("prompt_lookup"), bench.arm()):
        (request,) = bench.run(bench.job(arm, max_tokens=20), model=ends)
        assert request.finish_reason == "eos"
        assert request.output_ids == plain.output_ids[: plain.output_ids.index(plain.output_ids[4]) + 1]


def test_nothing_is_printed_while_models_load_and_run(bench, capfd):
    bench.run(bench.job(bench.arm(temperature=0.7, top_p=0.9)), bench.job(bench.baseline()))
    assert capfd.readouterr() == ("", "")


def test_an_engine_may_be_entered_again(bench):
    engine, arm = HuggingFaceEngine(), bench.arm()
    engine.check(bench.config(arm, save_text=True))
    outputs = []
    for _ in range(2):
        with engine:
            outputs += [request.output_ids for request in engine.generate([bench.job(arm)])]
    assert outputs[0] == outputs[1]


def test_the_next_job_is_pulled_only_when_the_last_has_ended(bench):
    engine, arm, events = HuggingFaceEngine(), bench.arm(), []
    engine.check(bench.config(arm))

    def jobs():
        for index in range(2):
            events.append(f"pulled {index}")
            yield bench.job(arm, index)

    with engine:
        events += [f"ended {request.prompt_id}" for request in _watching(engine.generate(jobs()), events)]
    assert events[:4] == ["pulled 0", "out p0", "pulled 1", "out p1"]


def _watching(requests, events):
    for request in requests:
        events.append(f"out {request.prompt_id}")
        yield request


def test_prompt_tokens_are_counted_before_the_model_loads(bench):
    engine, job = HuggingFaceEngine(), bench.job(bench.arm())
    engine.check(bench.config(job.arm))
    before = engine.count_tokens(job.prompt)
    with engine:
        (request,) = engine.generate([job])
        assert before == engine.count_tokens(job.prompt) == request.prompt_tokens == 18


def test_it_offers_what_a_run_may_ask(bench):
    assert isinstance(HuggingFaceEngine(), CountsTokens)
    assert isinstance(HuggingFaceEngine(), SeesTraps)


def test_notes_say_what_shapes_the_acceptance(bench, pair):
    notes = " ".join(described(bench, bench.arm(temperature=0.5), bench.arm("prompt_lookup", temperature=0.5))["notes"])
    assert "drafts at T²" in notes
    universal = pair("universal")
    assert "re-tokenised" in " ".join(described(universal, universal.arm("universal"))["notes"])
    assert described(bench, bench.arm())["notes"] == []
