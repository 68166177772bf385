"""Stores routing decisions and their outcomes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.utils.crypto import salted_hmac

from routing.domain.choices import ModelChoice
from routing.domain.complexity import WEIGHTS, ComplexityScore
from routing.models import RoutingDecision
from teams.prepared import run_prepared
from teams.tenancy import before_commit, team_scope

ACTOR = "routing"
# So many of each team are removed in one transaction.
_BATCH = 1_000

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A model that did not answer, and why; the reason holds no prompt, answer or key."""

    model: str
    provider: str
    failure: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a decision; `choice` is the model that answered, if one did."""

    team_id: UUID
    decision_id: UUID
    outcome: Literal["answered", "cut", "failed"]
    choice: ModelChoice | None
    attempts: Sequence[Attempt]
    cost_usd: Decimal | None


Keep = Callable[[Outcome], None]


def hash_of(*, team_id: UUID, query: str) -> str:
    """A keyed digest, equal for equal queries of a team."""
    return salted_hmac("routing.query", f"{team_id}:{query}", algorithm="sha256").hexdigest()


def told_scores(score: ComplexityScore) -> dict[str, dict[str, object]]:
    """The score, weight and reason of each dimension, for answers and rows."""
    return {
        name: {"score": value, "weight": WEIGHTS[name], "reason": score.reasons.get(name, "")}
        for name, value in score.dimensions.items()
    }


def keep_by_itself(decision: RoutingDecision) -> None:
    """Stores the decision in a transaction of its own."""
    with team_scope(team_ids=[decision.team_id], actor=ACTOR):
        decision.save(force_insert=True)


def write_outcome(told: Outcome) -> None:
    """Stores an outcome unless the decision has one; call it in the team's scope."""
    waiting = RoutingDecision.objects.filter(
        team_id=told.team_id, pk=told.decision_id, outcome="advised"
    )
    waiting.update(
        outcome=told.outcome,
        answered_by=told.choice.name if told.choice else "",
        attempts=[asdict(each) for each in told.attempts],
        cost_usd=told.cost_usd,
    )


def note_outcome(told: Outcome) -> None:
    """Stores an outcome in a transaction of its own, whatever becomes of the request.

    If the database is down it is only logged: an answer that was paid for must not be lost.
    """
    try:
        with before_commit(None), team_scope(team_ids=[told.team_id], actor=ACTOR):
            write_outcome(told)
    except (DatabaseError, InterfaceError):
        logger.warning("The outcome %s of a decision was not kept.", told.outcome, exc_info=True)


def prune_decisions(*, now: datetime) -> int:
    """Removes the decisions older than DECISION_DAYS, none if that is 0; returns how many."""
    if not settings.DECISION_DAYS:
        return 0
    before, removed = now - timedelta(days=settings.DECISION_DAYS), 0
    while True:
        ((batch,),) = run_prepared("SELECT palimpsest_prune_decisions($1, $2)", [before, _BATCH])
        removed += int(batch)
        if not batch:
            return removed
