"""Finds a cheaper tier when the budget no longer covers the chosen model."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from routing.domain.complexity import Tier
from routing.models import RoutingDecision
from routing.services.routes import Route
from teams.ids import new_id


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
        return replace(
            route,
            tier=tier,
            model=choices[0],
            fallbacks=choices[1:],
            reason=reason,
            estimated_usd=estimated,
            reservation_usd=most,
            alternatives=(),
            decision=_decision(route, tier, reason, estimated, now),
            lower={},
        )
    return None


def _decision(
    route: Route, tier: Tier, reason: str, estimated_usd: Decimal, now: datetime
) -> RoutingDecision:
    model = route.lower[tier][0]
    decision = copy(route.decision)
    decision.pk = new_id()
    decision.tier, decision.reason, decision.at = tier.value, reason, now
    decision.model, decision.provider = model.name, model.provider
    decision.estimated_usd = estimated_usd
    decision._state.adding = True
    return decision
