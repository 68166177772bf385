"""What answers where the money for the chosen model is gone by the time it is to be held."""

from __future__ import annotations

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
    before, model = route.decision, route.lower[tier][0]
    return RoutingDecision(
        id=new_id(),
        team_id=before.team_id,
        agent_id=before.agent_id,
        end_user_id=before.end_user_id,
        query_hash=before.query_hash,
        scores=before.scores,
        score=before.score,
        scorer=before.scorer,
        tier=tier.value,
        model=model.name,
        provider=model.provider,
        reason=reason,
        estimated_usd=estimated_usd,
        at=now,
    )
