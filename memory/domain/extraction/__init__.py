"""Extraction of memories from conversations without a language model."""

from .rules import RulesExtractor

__all__ = ["RulesExtractor"]
