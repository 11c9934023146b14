"""Tiny random models, and an independent reference of speculative decoding: no `generate`, no cache, one plain forward
pass over the whole sequence for every question asked of a model."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `hf`")
transformers = pytest.importorskip("transformers", reason="needs the extra `hf`")

from specprof.engines.huggingface import HuggingFaceEngine  # noqa: E402
from specprof.records import Arm, EngineConfig, Job, Prompt  # noqa: E402

VOCAB, EOS, CONTEXT = 60, 1, 160  # over 50 words, which is transformers' own top_k


def build_tokenizer(vocab: int = VOCAB, prefix: str = "w") -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {"<unk>": 0, "</s>": EOS} | {f"{prefix}{index}": index for index in range(2, vocab)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", eos_token="</s>")


def build_model(seed: int = 0, vocab: int = VOCAB, **settings: Any) -> Any:
    """Weights far from zero, so that no choice is so close that a cached and a plain pass could differ."""
    torch.manual_seed(seed)
    defaults = {"eos_token_id": EOS, "bos_token_id": None, "pad_token_id": None, "initializer_range": 0.25}
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    limits = {"vocab_size": vocab, "max_position_embeddings": CONTEXT}
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**(defaults | shape | limits | settings))).eval()


def save(model: Any, folder: Path, tokenizer: Any = None) -> str:
    model.save_pretrained(folder)
    (tokenizer or build_tokenizer()).save_pretrained(folder)
    return str(folder)


def noisy(model: Any, scale: float) -> Any:
    """The same model with noise on every weight: a draft that is right now and then."""
    torch.manual_seed(99)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * weight.std() * scale)
    return model


def prompt(index: int, length: int = 12) -> Prompt:
    """Words that repeat after a while, so that prompt lookup finds something."""
    words = [f"w{2 + (index * 7 + position * position * 5) % 11}" for position in range(length)]
    return Prompt(id=f"p{index}", task="words", text=" ".join(words + words[: length // 2]))


@dataclass
class Reference:
    """What one request must look like: (proposed, accepted, emitted) per round, and the output."""

    rounds: list[tuple[int, int, int]] = field(default_factory=list)
    output: list[int] = field(default_factory=list)


def forward(model: Any, ids: list[int]) -> Any:
    with torch.no_grad():
        return model(torch.tensor([ids], device=model.device), use_cache=False).logits[0].float()


def warp(logits: Any, arm: Arm) -> Any:
    """Temperature, then top-k, then top-p (the fewest tokens that hold that much probability), row by row."""
    logits = logits / arm.temperature
    if arm.top_k:
        kth = logits.sort(dim=-1, descending=True).values[..., arm.top_k - 1 : arm.top_k]
        logits = logits.masked_fill(logits < kth, -torch.inf)
    if arm.top_p and arm.top_p < 1:
        ordered, order = logits.sort(dim=-1, descending=True)
        mass_before = ordered.softmax(-1).cumsum(-1) - ordered.softmax(-1)
        cut = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, mass_before >= arm.top_p)
        logits = logits.masked_fill(cut, -torch.inf)
    return logits


def draw(probabilities: Any) -> Any:
    return torch.multinomial(probabilities, num_samples=1)[:, 0]


def model_draft(draft: Any, ids: list[int], most: int, arm: Arm) -> tuple[list[int], Any]:
    """Token after token. transformers 5.24 warps the logits of a sampling drafter twice, T = 0.8 drafts at 0.64."""
    tokens, rows = [], []
    threshold = (arm.threshold or 0.4) if arm.schedule == "confidence" else 0.0
    while len(tokens) < most:
        logits = forward(draft, ids + tokens)[-1:]
        logits = warp(warp(logits, arm), arm) if arm.temperature else logits
        q = logits.softmax(-1)
        token = int(draw(q)[0] if arm.temperature else logits.argmax())
        tokens.append(token)
        rows.append(q[0])
        if token == EOS or q[0, token] < threshold:
            break
    return tokens, torch.stack(rows) if rows else None


def lookup_draft(ids: list[int], most: int, largest: int) -> list[int]:
    """What follows the first earlier occurrence of the last words; longer runs of words first; never an end."""
    for size in range(min(largest, len(ids) - 1), 0, -1):
        for start in range(len(ids) - size):
            if ids[start : start + size] == ids[-size:]:
                found = ids[start + size : start + size + most]
                return found[: found.index(EOS)] if EOS in found else found
    return []


def verify(logits: Any, tokens: list[int], q: Any, arm: Arm) -> list[int]:
    """The tokens of the target: greedy and lookup by comparison, else Leviathan et al. 2023, algorithm 1."""
    if not arm.temperature or q is None:
        choices = (draw(warp(logits, arm).softmax(-1)) if arm.temperature else logits.argmax(-1)).tolist()
        matches = next((i for i, token in enumerate(tokens) if token != choices[i]), len(tokens))
        return choices[: matches + 1]
    p = warp(logits, arm).softmax(-1)
    lottery = torch.rand(len(tokens), device=p.device)
    kept = 0
    while kept < len(tokens) and lottery[kept] <= p[kept, tokens[kept]] / q[kept, tokens[kept]]:
        kept += 1
    rest = (p[kept] - q[kept]).clamp(min=0) if kept < len(tokens) else p[kept]
    return [*tokens[:kept], int(draw((rest / rest.sum())[None])[0])]


def decode(target: Any, draft: Any, job: Job, ids: list[int]) -> Reference:
    """Speculative decoding of one job, the last token always left to the target."""
    arm, result = job.arm, Reference()
    torch.manual_seed(job.seed)
    while len(result.output) < job.max_tokens and EOS not in result.output:
        room, so_far, q = job.max_tokens - len(result.output), ids + result.output, None
        if arm.method == "draft_model":
            tokens, q = model_draft(draft, so_far, min(arm.k, room - 1), arm)
        else:
            tokens = lookup_draft(so_far, arm.k, arm.options.get("max_matching_ngram_size", 2)) if room > 1 else []
        new = verify(forward(target, so_far + tokens)[-len(tokens) - 1 :], tokens, q, arm)[:room]
        new = new[: new.index(EOS) + 1] if EOS in new else new
        accepted = next(
            (i for i, (a, b) in enumerate(zip(tokens, new, strict=False)) if a != b), min(len(tokens), len(new))
        )
        result.rounds.append((len(tokens), accepted, len(new)))
        result.output += new
    return result


class Bench:
    """A tiny target, drafts for it, and an engine over them; `compare` holds the engine against the reference."""

    def __init__(self, folder: Path, device: str = "cpu") -> None:
        self.device = device
        self.models = {"target": build_model(), "noisy": noisy(build_model(), 0.15), "same": build_model()}
        self.folders = {name: save(model, folder / name) for name, model in self.models.items()}
        self.models = {name: model.to(device) for name, model in self.models.items()}
        self.tokenizer = build_tokenizer()

    def arm(self, method: str = "draft_model", k: int = 4, draft: str = "noisy", **settings: Any) -> Arm:
        model = self.folders[draft] if method == "draft_model" else None
        return Arm(id=settings.pop("id", method), method=method, draft=model, k=k, **settings)

    def baseline(self, **settings: Any) -> Arm:
        return Arm(id="baseline", method="none", **settings)

    def job(self, arm: Arm, index: int = 0, max_tokens: int = 24, seed: int = 0, **settings: Any) -> Job:
        asked = settings.pop("prompt", None) or prompt(index)
        return Job(f"{arm.id}-{index}-{seed}", asked, 0, arm, seed, max_tokens, **settings)

    def config(self, *arms: Arm, **settings: Any) -> EngineConfig:
        return EngineConfig(arms=arms, **({"model": self.folders["target"], "device": self.device} | settings))

    def run(self, *jobs: Job, **settings: Any) -> list[Any]:
        engine = HuggingFaceEngine()
        engine.check(self.config(*{job.arm.id: job.arm for job in jobs}.values(), **({"save_text": True} | settings)))
        with engine:
            return list(engine.generate(jobs))

    def reference(self, job: Job, draft: str = "noisy") -> Reference:
        ids = self.tokenizer(job.prompt.text).input_ids
        return decode(self.models["target"], self.models[draft], job, ids)

    def compare(self, *jobs: Job, draft: str = "noisy") -> list[Any]:
        """Rounds and output of every job are those of the reference; returns the requests for more questions."""
        requests = self.run(*jobs)
        for job, request in zip(jobs, requests, strict=True):
            expected = self.reference(job, draft)
            assert [(r.proposed, r.accepted, r.emitted) for r in request.rounds] == expected.rounds, job.request_id
            assert list(request.output_ids) == expected.output, job.request_id
            assert request.response_tokens == sum(r.emitted for r in request.rounds) == len(expected.output)
        return requests


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="session")
def bench_on(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Bench]:
    return lambda device: Bench(tmp_path_factory.mktemp("models"), device)


@pytest.fixture(scope="session")
def tiny() -> SimpleNamespace:
    """The builders, for tests that need a model of another kind."""
    return SimpleNamespace(
        model=build_model, tokenizer=build_tokenizer, save=save, prompt=prompt, eos=EOS, context=CONTEXT
    )


@pytest.fixture
def edited(bench: Bench, tmp_path: Path) -> Callable[..., str]:
    """A copy of the target's folder with some keys of a JSON file changed."""

    def edit(file: str = "config.json", **changes: Any) -> str:
        folder = tmp_path / "edited"
        folder.mkdir(exist_ok=True)
        for path in Path(bench.folders["target"]).iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        values = json.loads((folder / file).read_text())
        (folder / file).write_text(json.dumps(values | changes))
        return str(folder)

    return edit
