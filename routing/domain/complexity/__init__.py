"""Scores the complexity of a query by its words and a static vector, without a language model."""

from .scorer import DIMENSIONS, WEIGHTS, ComplexityScore, Embed, Tier, score_query, tier_of

__all__ = ["DIMENSIONS", "WEIGHTS", "ComplexityScore", "Embed", "Tier", "score_query", "tier_of"]
