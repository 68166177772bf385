"""How complex a query is, told by its words alone: no model is asked, about 0.2 ms a query."""

from .heuristics import score_query
from .types import DIMENSIONS, WEIGHTS, ComplexityScore, Tier, tier_of

__all__ = ["DIMENSIONS", "WEIGHTS", "ComplexityScore", "Tier", "score_query", "tier_of"]
