"""Hugging Face transformers: rounds seen at the verification boundary of assisted generation."""

from specprof.engines.huggingface.engine import HuggingFaceEngine

__all__ = ["HuggingFaceEngine"]
