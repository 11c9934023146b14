"""Make the demo's draft: `python tools/demo_draft TARGET OUT` (about half an hour on 2 quiet cores).

The target answers prompts of its own making, the draft learns the target's distribution over that text. Everything
follows from one seed; another machine or thread count rounds differently and gives other, equally good weights.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import torch
from corpus import Author, write
from distill import agreement, train
from safetensors.torch import save_file
from student import Student, config_of
from teacher import Lesson, taught
from transformers import AutoModelForCausalLM, AutoTokenizer

HELD_OUT = 25  # one text in so many is never trained on


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("target", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tokens", type=int, default=170_000, help="answer tokens to generate")
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    torch.manual_seed(asked.seed)
    tokenizer = AutoTokenizer.from_pretrained(asked.target, padding_side="left")
    tokenizer.pad_token = "<|endoftext|>"
    target = AutoModelForCausalLM.from_pretrained(asked.target, dtype=torch.bfloat16).eval()
    target.generation_config.pad_token_id = tokenizer.pad_token_id
    lessons = _cached(asked, target, tokenizer)
    tried, kept = lessons[::HELD_OUT], [lesson for i, lesson in enumerate(lessons) if i % HELD_OUT]
    torch.manual_seed(asked.seed)
    student = Student(config_of(target.config), target.get_input_embeddings().weight.detach())
    train(student, kept, asked.epochs, asked.seed)
    shares = agreement(student, tried)
    _write(asked, student, lessons, shares)


def _cached(asked: argparse.Namespace, target: Any, tokenizer: Any) -> list[Lesson]:
    """The lessons, from `OUT/lessons.pt` where an earlier try left them."""
    file = asked.out / f"lessons-{asked.tokens}-{asked.seed}.pt"
    if file.exists():
        lessons: list[Lesson] = torch.load(file, weights_only=False)
        return lessons
    asked.out.mkdir(parents=True, exist_ok=True)
    texts: list[tuple[str, list[int], int]] = []
    for number, text in enumerate(write(Author(target, tokenizer, asked.seed), asked.tokens), 1):
        texts.append(text)
        if number % 960 == 0:
            sys.stderr.write(f"{sum(len(ids) - prompt for _, ids, prompt in texts)} answer tokens\n")
    lessons = list(taught(target, texts))
    torch.save(lessons, file)
    return lessons


def _write(asked: argparse.Namespace, student: Student, lessons: list[Lesson], shares: dict[str, float]) -> None:
    save_file(student.weights(), asked.out / "draft.safetensors")
    student.body.config.save_pretrained(asked.out)
    answer = sum(len(lesson.ids) - lesson.prompt for lesson in lessons)
    facts = {
        "answer_tokens": answer,
        "tokens": sum(len(lesson.ids) for lesson in lessons),
        "epochs": asked.epochs,
        "seed": asked.seed,
        "held_out_top1_agreement": {kind: round(share, 3) for kind, share in shares.items()},
    }
    (asked.out / "draft.json").write_text(json.dumps(facts, indent=1) + "\n")
    sys.stdout.write(f"{json.dumps(facts)}\n")


if __name__ == "__main__":
    main()
