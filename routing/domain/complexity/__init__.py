"""How complex a query is, told by its words and a static vector: no language model is asked."""

from .scorer import Embed, score_query
from .types import DIMENSIONS, WEIGHTS, ComplexityScore, Tier, tier_of

__all__ = ["DIMENSIONS", "WEIGHTS", "ComplexityScore", "Embed", "Tier", "score_query", "tier_of"]
