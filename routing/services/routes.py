"""The router's result: the model that answers a query and its fallbacks."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from routing.domain.budgets import BudgetLeft
from routing.domain.choices import Expected, ModelChoice
from routing.domain.complexity import ComplexityScore, Tier
from routing.domain.ladder import Ladder
from routing.domain.reservations import TierEstimate
from routing.models import RoutingDecision
from teams.errors import UnavailableError


class NoModelConfiguredError(UnavailableError):
    """No model can be called until somebody configures one; the message says how."""

    retry_after_seconds = None


@dataclass(frozen=True, slots=True)
class Route:
    """Which model is to answer, which others may when it fails, and why.

    `estimated_usd` is what the call will probably cost. `reservation_usd` is the most it can cost
    with whichever of the models answers, for the cost guard; `alternatives` are the same for the
    cheaper tiers. `decision` is the row that is kept of it. `lower` are the models of cheaper tiers
    that may answer in its place; none where somebody asked for this tier. Where `is_configured` is
    False, no endpoint is known that could be asked, and `call` refuses.
    """

    tier: Tier
    model: ModelChoice
    fallbacks: tuple[ModelChoice, ...]
    score: ComplexityScore
    scorer: str
    reason: str
    estimated_usd: Decimal
    reservation_usd: Decimal
    alternatives: tuple[TierEstimate, ...]
    budget_left: BudgetLeft
    expected: Expected
    decision: RoutingDecision
    lower: Ladder
    is_configured: bool

    @property
    def team_id(self) -> UUID:
        """Whose it is."""
        return self.decision.team_id

    @property
    def decision_id(self) -> UUID:
        """The row that is kept of it."""
        return self.decision.pk

    @property
    def choices(self) -> tuple[ModelChoice, ...]:
        """The models in the order in which they are asked."""
        return (self.model, *self.fallbacks)
