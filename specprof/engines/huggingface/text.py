"""From a prompt to token ids: chat through the model's template, raw text as it is."""

from collections.abc import Iterable
from typing import Any

from specprof.errors import BadRecordError
from specprof.records import Prompt


def render(tokenizer: Any, prompt: Prompt) -> str:
    """The text that the model sees, without the special tokens that the tokenizer puts round raw text."""
    if prompt.messages is None:
        return prompt.text or ""
    messages = [dict(message) for message in prompt.messages]
    return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))


def encode(tokenizer: Any, prompt: Prompt, text: str) -> list[int]:
    # A chat template writes its own special tokens.
    return list(tokenizer(text, add_special_tokens=prompt.messages is None).input_ids)


def adds_special_tokens(tokenizer: Any) -> bool:
    """Whether raw text gets special tokens (usually a beginning-of-sequence)."""
    return bool(tokenizer.num_special_tokens_to_add() > 0)


def check_prompts(tokenizer: Any, prompts: Iterable[Prompt]) -> None:
    """Raise `BadRecordError` for the first chat record that the model's template cannot take."""
    from jinja2 import TemplateError

    for prompt in (prompt for prompt in prompts if prompt.messages is not None):
        if not tokenizer.chat_template:
            raise BadRecordError(
                prompt.place or prompt.id,
                "is a chat record, and the model has no chat template",
                'write the text as "prompt", or pass a chat model',
            )
        try:
            render(tokenizer, prompt)
        except TemplateError as error:
            raise BadRecordError(
                prompt.place or prompt.id,
                f"is refused by the model's chat template: {error}",
                "check the roles and their order",
            ) from error
