from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="needs the extra `hf`")

from specprof.engines.huggingface.diagnose.side import findings_of, read_side
from specprof.records import Finding


def test_a_folder_with_its_files_is_fine(bench):
    model, embeddings = findings_of(read_side("target", bench.folders["target"], remote=False))
    assert (model.level, embeddings.level) == ("ok", "ok")
    assert "llama, decoder-only" in model.value
    assert embeddings.figures == {"rows": 60, "tokens": 60}


def test_a_model_that_cannot_be_read_is_a_blocker(tmp_path):
    side = read_side("draft", str(tmp_path), remote=False)
    assert isinstance(side, Finding)
    assert (side.what, side.level) == ("model", "blocker")
    assert "has no `config.json`" in side.value


@pytest.mark.parametrize(("rows", "tokens", "level"), [(64, 60, "ok"), (60, 64, "warning")])
def test_rows_of_the_embedding_are_held_against_the_tokens(tiny, tmp_path, rows, tokens, level):
    folder = tiny.save(tiny.build_model(vocab=rows), tmp_path, tiny.build_tokenizer(tokens))
    _, finding = findings_of(read_side("target", folder, remote=False))
    assert (finding.what, finding.level) == ("embeddings", level)
    assert finding.figures == {"rows": rows, "tokens": tokens}


def test_weights_that_are_not_here_yet_are_a_warning(bench, edited):
    from dataclasses import replace

    side = replace(read_side("target", edited(), remote=False), folder=None)
    assert next(findings_of(side)).level == "warning"


def test_no_weights_are_read(edited):
    folder = edited()
    (Path(folder) / "model.safetensors").write_bytes(b"no weights at all")
    assert {finding.level for finding in findings_of(read_side("target", folder, remote=False))} == {"ok"}
