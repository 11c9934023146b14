"""Read the prompts of a run: recognise each record's layout, give it a task and a stable id."""

from specprof.prompts.prompt_set import PromptSet
from specprof.prompts.read import TaskRule, read_prompts

__all__ = ["PromptSet", "TaskRule", "read_prompts"]
