"""Pairs of tiny random models, one for each way of drafting, made so that the drafter is right now and then."""

from pathlib import Path
from typing import Any

import torch
import transformers
from reference_decoder import EOS
from safetensors.torch import load_file, save_file
from tiny_models import CONTEXT, VOCAB, build_model, build_tokenizer, noisy, save

SHAPE = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4, "head_dim": 8}
META = {"format": "pt"}
COMMON = {"vocab_size": VOCAB, "max_position_embeddings": CONTEXT, "initializer_range": 0.25, "eos_token_id": EOS}


def weak(model: Any, scale: float) -> Any:
    """Blocks that add little to the residual stream, so that the next token depends mostly on the last."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "o_proj" in name or "down_proj" in name:
                weight.mul_(scale)
    return model


def layered(folder: Path) -> dict[str, Any]:
    """A target of six layers, of which the last two add little: leaving after four is mostly right."""
    model = build_model(num_hidden_layers=6)
    weak(model.model.layers[4:], 0.5)
    save(model, folder / "target")
    return {"target": model}


def universal(folder: Path) -> dict[str, Any]:
    """The draft is the target with noise, its words in another order and ten more words."""
    target, size = build_model(), VOCAB + 10
    draft, words = noisy(build_model(), 0.1), torch.randperm(size - 2, generator=torch.Generator().manual_seed(5)) + 2
    places = torch.cat([torch.tensor([0, EOS]), words])[:VOCAB]
    larger = build_model(vocab=size)
    with torch.no_grad():
        for ours, theirs in zip(larger.parameters(), draft.parameters(), strict=True):
            if ours.shape == theirs.shape:
                ours.copy_(theirs)
            else:
                ours[places] = theirs
    tokenizer = build_tokenizer(size)
    vocabulary = {f"w{id}" if id > EOS else ("<unk>", "</s>")[id]: int(places[id]) for id in range(VOCAB)}
    rest = sorted(set(range(size)) - set(vocabulary.values()))
    vocabulary |= {f"x{id}": id for id in rest}
    tokenizer.backend_tokenizer.model = type(tokenizer.backend_tokenizer.model)(vocabulary, unk_token="<unk>")
    save(target, folder / "target")
    save(larger, folder / "draft", tokenizer)
    return {"target": target, "draft": larger}


def mtp(folder: Path) -> dict[str, Any]:
    """A target with two layers of multi-token prediction, which see the newest token best."""
    from transformers.modeling_layers import MtpModel

    torch.manual_seed(0)
    config = transformers.Ernie4_5_MoeConfig(
        **COMMON, **SHAPE, num_hidden_layers=2, num_key_value_heads=2, moe_layer_start_index=99, num_mtp_layers=2,
        tie_word_embeddings=False, bos_token_id=None, pad_token_id=None,
    )  # fmt: skip
    target = weak(transformers.Ernie4_5_MoeForCausalLM(config), 0.3).eval()
    head = MtpModel(target, 2).eval()
    with torch.no_grad():
        for name, weight in head.layers.named_parameters():
            torch.nn.init.ones_(weight) if "norm" in name else torch.nn.init.normal_(weight, std=0.03)
        for layer in head.layers:
            layer.eh_proj.weight[:, :32].add_(torch.eye(32))
    save(target, folder / "target")
    path = folder / "target" / "model.safetensors"
    save_file(load_file(path) | {f"mtp.layers.{name}": w for name, w in head.layers.state_dict().items()}, path, META)
    return {"target": target, "draft": head}


def dflash(folder: Path) -> dict[str, Any]:
    """The embedding of the mask points at a word that the target likes, so that each block proposes it."""
    target = build_model()
    with torch.no_grad():
        target.lm_head.weight[14] *= 1.5
        target.model.embed_tokens.weight[VOCAB - 1] = target.lm_head.weight[14]
    torch.manual_seed(1)
    config = transformers.MuseGlimmerAssistantConfig(
        **SHAPE, num_hidden_layers=1, num_key_value_heads=4, max_position_embeddings=CONTEXT, block_size=4,
        mask_token_id=VOCAB - 1, target_layer_ids=[0, 1], layer_types=["full_attention"], initializer_range=0.25,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0}, bos_token_id=None, eos_token_id=EOS,
        pad_token_id=None,
    )  # fmt: skip
    draft = weak(transformers.MuseGlimmerAssistantModel(config), 0.3).eval()
    save(target, folder / "target")
    save(draft, folder / "draft")
    return {"target": target, "draft": draft}


def single_position(folder: Path) -> dict[str, Any]:
    """A Gemma 4 and an assistant that repeats the last word."""
    kinds = ["sliding_attention", "full_attention"]
    shape = COMMON | SHAPE | {
        "num_key_value_heads": 2, "global_head_dim": 8, "sliding_window": CONTEXT, "hidden_size_per_layer_input": 0,
        "vocab_size_per_layer_input": 0, "bos_token_id": None, "pad_token_id": None,
    }  # fmt: skip
    torch.manual_seed(0)
    whole = transformers.Gemma4TextConfig(**shape, num_hidden_layers=4, layer_types=kinds * 2, num_kv_shared_layers=0)
    target = transformers.Gemma4ForCausalLM(whole).eval()
    part = transformers.Gemma4TextConfig(**shape, num_hidden_layers=2, layer_types=kinds, num_kv_shared_layers=2)
    config = transformers.Gemma4AssistantConfig(text_config=part, backbone_hidden_size=32, initializer_range=0.25)
    draft = weak(transformers.Gemma4AssistantForCausalLM(config), 0.3).eval()
    with torch.no_grad():
        draft.model.embed_tokens.weight.copy_(target.model.embed_tokens.weight)
        draft.pre_projection.weight.normal_(std=0.05)[:, :32].add_(torch.eye(32))
    save(target, folder / "target")
    save(draft, folder / "draft")
    return {"target": target, "draft": draft}


def seq2seq(folder: Path) -> dict[str, Any]:
    """A T5 and the same with noise."""

    def t5() -> Any:
        torch.manual_seed(0)
        return transformers.T5ForConditionalGeneration(
            transformers.T5Config(
                vocab_size=VOCAB,
                d_model=32,
                d_kv=8,
                d_ff=64,
                num_layers=2,
                num_decoder_layers=2,
                num_heads=4,
                decoder_start_token_id=0,
                eos_token_id=EOS,
                pad_token_id=0,
                initializer_factor=2.0,
            )
        ).eval()

    models = {"target": t5(), "draft": noisy(t5(), 0.1)}
    for name, model in models.items():
        save(model, folder / name)
    return models
