"""Whether the models fit, and how many cached tokens fit beside them, with and without a draft."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from specprof.engines.huggingface import preflight
from specprof.engines.huggingface.diagnose.side import Side
from specprof.records import EngineConfig, Finding

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


def findings(target: Side, drafts: Sequence[Side], config: EngineConfig) -> Iterator[Finding]:
    import torch

    device = config.device or ("cuda" if torch.cuda.is_available() else "cpu")
    free = free_bytes(device)
    sizes = [weight_bytes(side, config.dtype) for side in (target, *drafts)]
    if free is None or None in sizes:
        missing = "free memory" if free is None else "the size of weights that are not here"
        yield Finding("memory", "ok", "not known", f"{missing} cannot be told")
        return
    known = [size for size in sizes if size is not None]
    yield _fit(target, drafts, known, free, config.dtype, device)
    per_token = kv_bytes(target.config, config.dtype)
    room = free - known[0]
    for draft, size in zip(drafts, known[1:], strict=True):
        beside = kv_bytes(draft.config, config.dtype)
        if per_token is not None and beside is not None and room > 0:
            yield _taken(draft, size, room, per_token, beside)


def _fit(
    target: Side, drafts: Sequence[Side], sizes: Sequence[int], free: int, dtype: str | None, device: str
) -> Finding:
    weights = " + ".join(shown(size) for size in sizes)
    per_token = [kv_bytes(side.config, dtype) for side in (target, *drafts)]
    value = f"weights {weights}, {shown(free)} free on {device}"
    figures: dict[str, float] = {"weights": sum(sizes), "free": free}
    if sum(sizes) > free:
        meaning = "the weights do not fit"
        hint = "a smaller dtype, another device, or fewer drafts in one run"
        return Finding("memory", "blocker", value, meaning, hint, figures)
    known = [each for each in per_token if each is not None]
    if len(known) < len(per_token):
        return Finding(
            "memory", "ok", value, "the weights fit; the cache of this architecture is not known", figures=figures
        )
    tokens = (free - sum(sizes)) // sum(known)
    context = context_tokens(target, drafts)
    figures |= {"kv_bytes_per_token": sum(known), "room_tokens": tokens}
    value += f", cache {shown(sum(known))} per token"
    meaning = f"room for {tokens:,} cached tokens"
    if context is None:
        return Finding("memory", "ok", value, meaning, figures=figures)
    meaning += f", {tokens // context:,} requests of {context:,}"
    if tokens < context:
        hint = "keep prompts and `--max-new-tokens` short, or use a smaller dtype"
        return Finding("memory", "warning", value, f"{meaning}: the longest requests fail", hint, figures)
    return Finding("memory", "ok", value, meaning, figures=figures)


def _taken(draft: Side, size: int, room: int, per_token: int, beside: int) -> Finding:
    """What an engine that fills the memory with cached tokens pays for the draft."""
    alone, both = room // per_token, max(room - size, 0) // (per_token + beside)
    share = 1 - both / alone if alone else 1.0
    value = f"{draft.title}: weights {shown(size)}, cache {shown(beside)} per token"
    meaning = f"room falls from {alone:,} to {both:,} cached tokens (−{share:.1%}): that much less runs at once"
    figures = {"weights": size, "kv_bytes_per_token": beside, "room_alone": alone, "room_tokens": both}
    return Finding("draft-memory", "ok", value, meaning, figures=figures)


def weight_bytes(side: Side, dtype: str | None) -> int | None:
    """Bytes of the weights once loaded; None where the files are not here. Quantised weights stay as they are."""
    files = preflight.weight_files(side.folder) if side.folder else []
    if not files:
        return None
    stored = sum(file.stat().st_size for file in files)
    if dtype in (None, "auto") or getattr(side.config, "quantization_config", None):
        return stored
    return stored * itemsize(side.config, dtype) // itemsize(side.config, None)


def itemsize(config: Any, dtype: str | None) -> int:
    """Bytes per number; a checkpoint that names no precision is float32."""
    import torch

    chosen = getattr(torch, dtype) if dtype not in (None, "auto") else getattr(config, "dtype", None) or torch.float32
    return int(chosen.itemsize)


def kv_bytes(config: Any, dtype: str | None) -> int | None:
    """Bytes of keys and values per cached token: 2 · layers · key-value heads · head size · bytes per number. An upper
    bound where layers look back over a window only; None for an architecture with other names."""
    text = config.get_text_config(decoder=True)
    heads = getattr(text, "num_key_value_heads", None) or getattr(text, "num_attention_heads", None)
    layers = getattr(text, "num_decoder_layers", None) or getattr(text, "num_hidden_layers", None)
    size = getattr(text, "head_dim", None) or getattr(text, "d_kv", None)
    if size is None and heads is not None and hasattr(text, "hidden_size"):
        size = text.hidden_size // text.num_attention_heads
    if heads is None or layers is None or size is None:
        return None
    return 2 * int(layers) * int(heads) * int(size) * itemsize(config, dtype)


def context_tokens(target: Side, drafts: Sequence[Side]) -> int | None:
    limits = [getattr(side.config.get_text_config(), "max_position_embeddings", None) for side in (target, *drafts)]
    return min((limit for limit in limits if limit), default=None)


def free_bytes(device: str) -> int | None:
    """Free memory of a GPU, or what the system and the container's limit still give; None where neither says."""
    import torch

    if device.startswith("cuda"):
        return int(torch.cuda.mem_get_info(device)[0])
    limits = [_available(), _below_limit()]
    return min((limit for limit in limits if limit is not None), default=None)


def _available() -> int | None:
    if not _MEMINFO.is_file():
        return None
    lines = dict(line.split(":", 1) for line in _MEMINFO.read_text().splitlines() if ":" in line)
    return int(lines["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in lines else None


def _below_limit() -> int | None:
    """What a control group of version 2 has left; its page cache can be given back."""
    limit, used = _CGROUP / "memory.max", _CGROUP / "memory.current"
    if not (limit.is_file() and used.is_file()) or (text := limit.read_text().strip()) == "max":
        return None
    stats = dict(line.split() for line in (_CGROUP / "memory.stat").read_text().splitlines())
    return int(text) - int(used.read_text()) + int(stats.get("file", 0))


def shown(size: float) -> str:
    """Bytes for people, in powers of 1000."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"
