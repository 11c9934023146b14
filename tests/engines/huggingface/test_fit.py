import re
from pathlib import Path

import pytest

from specprof.engines.huggingface import HuggingFaceEngine
from specprof.errors import UsageError
from specprof.records import Arm, EngineConfig

pytest.importorskip("transformers", reason="needs the extra `hf`")


def check(model, **arm):
    HuggingFaceEngine().check(EngineConfig(arms=(Arm(**({"id": "a", "k": 2} | arm)),), model=model))


def refused(message, model, **arm):
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        check(model, **arm)
    return caught.value.hint


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "mamba"}, "(mamba) keeps a recurrent state"),
        ({"model_type": "jamba"}, "(jamba) keeps a recurrent state"),
        ({"model_type": "vit"}, "(vit) does not generate text"),
        ({"use_cache": False}, "sets `use_cache` to false"),
    ],
)
def test_a_model_that_cannot_be_assisted_is_refused_before_its_weights_load(bench, edited, changes, message):
    folder = edited(**changes)
    refused(message, folder, method="prompt_lookup")
    refused(message, bench.folders["target"], method="draft_model", draft=folder)


def test_a_draft_of_another_kind_than_the_target_is_refused(pair):
    encoder_decoder, decoder = pair("seq2seq"), pair("universal")
    for model, draft in ((encoder_decoder, decoder), (decoder, encoder_decoder)):
        arm = {"method": "draft_model", "draft": draft.folders["draft"]}
        hint = refused("only one is an encoder-decoder model", model.folders["target"], **arm)
        assert hint == "pass a draft of the target's kind"


@pytest.mark.parametrize("method", ["universal", "early_exit", "mtp", "dflash"])
def test_encoder_decoder_targets_have_a_draft_model_or_prompt_lookup_only(pair, method):
    bench = pair("seq2seq")
    draft = bench.folders["draft"] if method in ("universal", "dflash") else None
    options = {"early_exit": 1} if method == "early_exit" else {}
    message = f"arm `a`: `{method}` cannot draft with the encoder-decoder model"
    assert "prompt_lookup" in refused(message, bench.folders["target"], method=method, draft=draft, options=options)


@pytest.mark.parametrize("layer", [6, 7])
def test_leaving_after_the_last_layer_is_no_early_exit(pair, layer):
    target = pair("layered").folders["target"]
    hint = refused(f"leaves after layer {layer}, and", target, method="early_exit", options={"early_exit": layer})
    assert hint == "`early_exit` is 1 to 5 here"
    check(target, method="early_exit", options={"early_exit": 5})


def test_multi_token_prediction_needs_a_model_that_has_it(pair, bench):
    refused("has no layers of multi-token prediction", bench.folders["target"], method="mtp")
    target = pair("mtp").folders["target"]
    assert refused("asks for k = 4, and", target, method="mtp", k=4) == "pass `k=2`"


def test_a_dflash_drafter_must_be_one_and_made_for_the_target(pair, bench, tiny, tmp_path):
    models = pair("dflash")
    target, draft = models.folders["target"], models.folders["draft"]
    refused("(llama) is no DFlash drafter", target, method="dflash", draft=bench.folders["noisy"])
    assert refused("asks for k = 2, and", target, method="dflash", draft=draft) == "pass `k=3`"
    shallow = tiny.save(tiny.build_model(num_hidden_layers=1), tmp_path / "shallow")
    refused("looks at layer 1 of", shallow, method="dflash", draft=draft, k=3)
    wide = tiny.save(tiny.build_model(hidden_size=64), tmp_path / "wide")
    refused("reads states of width 32, and", wide, method="dflash", draft=draft, k=3)


def test_single_position_drafting_is_a_gemma_s(pair, bench):
    models = pair("single_position")
    target, draft = models.folders["target"], models.folders["draft"]
    refused("(llama) knows no single-position", bench.folders["target"], method="single_position", draft=draft)
    refused("(llama) knows no single-position", target, method="single_position", draft=bench.folders["noisy"])


def test_every_sound_pair_passes(pair):
    for name, arm in {
        "mtp": {"method": "mtp", "k": 2},
        "dflash": {"method": "dflash", "k": 3},
        "single_position": {"method": "single_position"},
        "seq2seq": {"method": "draft_model"},
        "universal": {"method": "universal", "temperature": 1.0},
    }.items():
        models = pair(name)
        check(models.folders["target"], draft=None if name == "mtp" else models.folders["draft"], **arm)


def test_a_config_with_code_of_its_own_is_no_reason_to_look_into_our_tables(edited):
    """A model that brings its code says so with `auto_map`; here the class is known, and nothing else is asked."""
    folder = edited(auto_map={"AutoModelForCausalLM": "modeling.Model"})
    check(str(Path(folder)), method="prompt_lookup")
