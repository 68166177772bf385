"""Keeping what was decided, and what became of it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from django.db import DatabaseError, InterfaceError
from django.utils.crypto import salted_hmac

from routing.domain.choices import ModelChoice
from routing.domain.complexity import WEIGHTS, ComplexityScore, Tier
from routing.models import RoutingDecision
from teams.models import Agent, EndUser, Team
from teams.tenancy import team_scope

ACTOR = "routing"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A model that did not answer: why, in words that hold no prompt, answer or key."""

    model: str
    provider: str
    failure: str


def hash_of(*, team_id: UUID, query: str) -> str:
    """A digest that tells equal queries of a team, and nothing else without the server's secret."""
    return salted_hmac("routing.query", f"{team_id}:{query}", algorithm="sha256").hexdigest()


def told_scores(score: ComplexityScore) -> dict[str, dict[str, object]]:
    """The score by dimension, with its weight and the reason, as answers and rows have it."""
    return {
        name: {
            "score": value,
            "weight": WEIGHTS[name],
            "reason": score.reasons.get(name, ""),
        }
        for name, value in score.dimensions.items()
    }


def keep_decision(
    *,
    team: Team,
    agent: Agent,
    end_user: EndUser | None,
    query: str,
    score: ComplexityScore,
    scorer: str,
    tier: Tier,
    model: ModelChoice,
    reason: str,
    estimated_usd: Decimal,
    now: datetime,
) -> UUID:
    """Write the decision down; returns its id. Call it in the team's scope."""
    row = RoutingDecision(
        team=team,
        agent=agent,
        end_user=end_user,
        query_hash=hash_of(team_id=team.pk, query=query),
        scores=told_scores(score),
        score=score.weighted,
        scorer=scorer,
        tier=tier.value,
        model=model.name,
        provider=model.provider,
        reason=reason,
        estimated_usd=estimated_usd,
        at=now,
    )
    row.save(force_insert=True)
    return row.pk


def note_outcome(
    *,
    team_id: UUID,
    decision_id: UUID,
    outcome: Literal["answered", "cut", "failed"],
    choice: ModelChoice | None,
    attempts: Sequence[Attempt],
    cost_usd: Decimal | None,
) -> None:
    """Write down what became of the call, the first time it is said; harmless afterwards.

    An answer that was paid for is not lost because the database is away: then it is only logged.
    """
    told = [
        {"model": each.model, "provider": each.provider, "failure": each.failure}
        for each in attempts
    ]
    try:
        with team_scope(team_ids=[team_id], actor=ACTOR):
            rows = RoutingDecision.objects.filter(team_id=team_id, pk=decision_id)
            rows.filter(outcome="advised").update(
                outcome=outcome,
                answered_by=choice.name if choice else "",
                attempts=told,
                cost_usd=cost_usd,
            )
    except (DatabaseError, InterfaceError):
        logger.warning("The outcome %s of a decision was not kept.", outcome, exc_info=True)
