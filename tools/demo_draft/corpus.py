"""Text for the draft to learn from: the target answers prompts that it made up itself. Nothing else is read.

Per kind of traffic: openings are sampled from the target after a self-written seed, then answered, half of them
greedily, half sampled. None of it is a prompt of `sample_prompts/`.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from seeds import CHAT, CODE, CREATIVE, NAMES, PASSAGE, QUOTE, TOPICS

SYSTEM = "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
USER, ANSWER = "<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n"
ANSWER_TOKENS = 112
BATCH = 96


class Author:
    """The target with a seeded sampler. Texts in, token ids out; what follows the first end token is cut off."""

    def __init__(self, model: Any, tokenizer: Any, seed: int) -> None:
        self.model, self.tokenizer, self.rng = model, tokenizer, random.Random(seed)
        torch.manual_seed(seed)

    def pick(self, templates: Sequence[str], subjects: Sequence[str] = TOPICS) -> str:
        return self.rng.choice(templates).format(self.rng.choice(subjects))

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def continued(self, texts: Sequence[str], tokens: int, temperature: float) -> Iterator[tuple[list[int], list[int]]]:
        """(prompt ids, new ids) per text; greedy at temperature 0."""
        inputs = self.tokenizer(list(texts), return_tensors="pt", padding=True, add_special_tokens=False)
        how = {"temperature": temperature, "top_p": 0.95, "top_k": 0} if temperature else {}
        ids = self.model.generate(**inputs, do_sample=temperature > 0, max_new_tokens=tokens, **how)
        width, end = inputs["input_ids"].shape[1], self.tokenizer.eos_token_id
        for row, mask in zip(ids.tolist(), inputs["attention_mask"].tolist(), strict=True):
            new = row[width:]
            stop = new.index(end) + 1 if end in new else len(new)
            yield [token for token, kept in zip(row, mask, strict=False) if kept], new[:stop]

    def texts(self, texts: Sequence[str], tokens: int, temperature: float) -> list[str]:
        """Sampled continuations, without the texts."""
        pairs = self.continued(texts, tokens, temperature)
        return [self.tokenizer.decode(new, skip_special_tokens=True) for _, new in pairs]

    def prompts(self, kind: str, count: int) -> list[str]:
        """Complete prompts of one kind of traffic, ready to be answered."""
        if kind == "code":
            seeds = [self.pick(CODE, NAMES) for _ in range(count)]
            return [seed + text for seed, text in zip(seeds, self.texts(seeds, 48, 0.6), strict=True)]
        if kind == "summarise":
            asked = [SYSTEM + USER + self.pick(PASSAGE) + ANSWER for _ in range(count)]
            passages = self.texts(asked, 96, 0.8)
            return [SYSTEM + USER + f"{self.rng.choice(QUOTE)}\n\n{text.strip()}" + ANSWER for text in passages]
        if kind == "creative":
            return [SYSTEM + USER + self.pick(CREATIVE) + ANSWER for _ in range(count)]
        openings = [SYSTEM + USER + self.pick(CHAT) for _ in range(count)]
        return [opening + text + ANSWER for opening, text in zip(openings, self.texts(openings, 32, 0.8), strict=True)]


KINDS = ("code", "chat", "creative", "summarise", "code", "chat")


def write(author: Author, tokens: int) -> Iterator[tuple[str, list[int], int]]:
    """(kind, token ids, length of the prompt) until the answers hold `tokens`."""
    made = batch = 0
    while made < tokens:
        kind, temperature = KINDS[batch % len(KINDS)], (0.0, 0.7)[batch // len(KINDS) % 2]
        batch += 1
        for prompt, answer in author.continued(author.prompts(kind, BATCH), ANSWER_TOKENS, temperature):
            made += len(answer)
            yield kind, prompt + answer, len(prompt)
