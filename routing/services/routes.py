"""The router's result: the model that answers a query, its fallbacks, and a cheaper way."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from routing.domain.budgets import BudgetLeft, TierEstimate
from routing.domain.choices import Expected, ModelChoice
from routing.domain.complexity import ComplexityScore, Tier
from routing.domain.ladder import Ladder
from routing.models import RoutingDecision
from teams.errors import UnavailableError
from teams.ids import new_id


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


def cheapest_within(*, route: Route, left_usd: Decimal, now: datetime) -> Route | None:
    """The route of the cheapest tier that `left_usd` pays for, whichever of its models answers.

    For calls that come at once: what was left when the tier was chosen, others hold by now. None
    where nothing cheaper fits, or somebody asked for the tier. Its decision is a new one, not kept
    yet.
    """
    for tier in Tier:
        choices = tuple(route.lower.get(tier, ()))
        most = max(map(route.expected.most, choices), default=None)
        if most is None or most > left_usd:
            continue
        estimated = route.expected.cost(choices[0])
        reason = f"{route.reason} Others hold what is left of the budget, so {tier} does."
        decision = copy(route.decision)
        decision.pk, decision._state.adding = new_id(), True
        decision.tier, decision.reason, decision.at = tier.value, reason, now
        decision.model, decision.provider = choices[0].name, choices[0].provider
        decision.estimated_usd = estimated
        return replace(
            route,
            tier=tier,
            model=choices[0],
            fallbacks=choices[1:],
            reason=reason,
            estimated_usd=estimated,
            reservation_usd=most,
            alternatives=(),
            decision=decision,
            lower={},
        )
    return None
