"""Text for the draft to learn from: the target answers prompts that it made up itself. Nothing else is read.

Per kind of traffic: openings are sampled from the target after a self-written seed, then answered, half of them
greedily, half sampled. None of it is a prompt of `sample_prompts/`.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import torch

SYSTEM = "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
USER, ANSWER = "<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n"
ANSWER_TOKENS = 112
BATCH = 96

TOPICS = """a bicycle that squeaks; a neighbour's dog; planning a garden; learning to swim; a lost parcel; the night train;
a broken heater; a school play; growing tomatoes; a job interview; the office kitchen; a birthday for twins; an old radio;
moving to a new town; a power cut; baking bread; a museum visit; the last bus; a rainy holiday; a shy colleague;
repairing a roof; a chess club; a missed deadline; the harbour; a wedding speech; saving money; a bee hive; a long flight;
a city marathon; a noisy server room; a new printer; a library card; the first snow; a mountain hut; a data outage;
a delayed delivery; a changed timetable; a software update; a water leak; a summer festival; a fire drill; a new canteen;
an electric car; a violin lesson; a flea market; a cat on a roof; a forgotten password; a team meeting; a river flood;
a software release; a bakery; a repair café; a parking permit; a bridge closed for works; a customer complaint""".replace(
    "\n", " "
).split("; ")
CHAT = (
    "Can you help me with {}?", "I have a question about {}.", "What should I know about {}?", "I need advice on {}.",
    "My friend and I argue about {}.", "How would you explain {} to a child?", "",
)  # fmt: skip
CREATIVE = (
    "Write a short poem about {}.", "Tell me a story about {}.", "Write a limerick about {}.",
    "Write the first paragraph of a novel about {}.", "Describe {} in three sentences.", "Write a dialogue about {}.",
)  # fmt: skip
PASSAGE = ("Write a short notice about {}.", "Write an email about {}.", "Write a news report about {}.")
QUOTE = (
    "Summarize this text in one sentence.", "Repeat the most important sentence word for word.", "Quote the key sentence.",
    "What happened? Use the exact words of the text.", "Copy the two sentences that matter most.",
)  # fmt: skip
CODE = (
    "def ", "import ", "class ", "from typing import ", "function ", "// ", "#!/bin/sh\n", "SELECT ", "package main\n",
    "export function ", "#include <", '"""', "async def ", "const ", "public class ", "# ", "fn ", "@dataclass\nclass ",
)  # fmt: skip


class Author:
    """The target with a seeded sampler. Texts in, token ids out; what follows the first end token is cut off."""

    def __init__(self, model: Any, tokenizer: Any, seed: int) -> None:
        self.model, self.tokenizer, self.rng = model, tokenizer, random.Random(seed)
        torch.manual_seed(seed)

    def pick(self, templates: Sequence[str]) -> str:
        return self.rng.choice(templates).format(self.rng.choice(TOPICS))

    @torch.inference_mode()
    def continued(self, texts: Sequence[str], tokens: int, sampled: bool) -> Iterator[tuple[list[int], list[int]]]:
        """(prompt ids, new ids) per text."""
        inputs = self.tokenizer(list(texts), return_tensors="pt", padding=True, add_special_tokens=False)
        how = {"temperature": 0.9, "top_p": 0.95, "top_k": 0} if sampled else {}
        ids = self.model.generate(**inputs, do_sample=sampled, max_new_tokens=tokens, **how)
        width, end = inputs["input_ids"].shape[1], self.tokenizer.eos_token_id
        for row, mask in zip(ids.tolist(), inputs["attention_mask"].tolist(), strict=True):
            new = row[width:]
            stop = new.index(end) + 1 if end in new else len(new)
            yield [token for token, kept in zip(row, mask, strict=False) if kept], new[:stop]

    def texts(self, texts: Sequence[str], tokens: int) -> list[str]:
        """Sampled continuations as text, without the seed."""
        return [
            self.tokenizer.decode(new, skip_special_tokens=True)
            for _, new in self.continued(texts, tokens, sampled=True)
        ]

    def prompts(self, kind: str, count: int) -> list[str]:
        """Complete prompts of one kind of traffic, ready to be answered."""
        if kind == "code":
            seeds = [self.rng.choice(CODE) for _ in range(count)]
            return [seed + text for seed, text in zip(seeds, self.texts(seeds, 40), strict=True)]
        if kind == "summarise":
            asked = [SYSTEM + USER + self.pick(PASSAGE) + ANSWER for _ in range(count)]
            passages = self.texts(asked, 96)
            return [SYSTEM + USER + f"{self.rng.choice(QUOTE)}\n\n{text.strip()}" + ANSWER for text in passages]
        if kind == "creative":
            return [SYSTEM + USER + self.pick(CREATIVE) + ANSWER for _ in range(count)]
        openings = [SYSTEM + USER + self.pick(CHAT) for _ in range(count)]
        return [opening + text + ANSWER for opening, text in zip(openings, self.texts(openings, 32), strict=True)]


KINDS = ("code", "chat", "creative", "summarise", "code", "chat")


def write(author: Author, tokens: int) -> Iterator[tuple[str, list[int], int]]:
    """(kind, token ids, length of the prompt) until the answers hold `tokens`."""
    made = batch = 0
    while made < tokens:
        kind, sampled = KINDS[batch % len(KINDS)], batch // len(KINDS) % 2 == 1
        batch += 1
        for prompt, answer in author.continued(author.prompts(kind, BATCH), ANSWER_TOKENS, sampled):
            made += len(answer)
            yield kind, prompt + answer, len(prompt)
