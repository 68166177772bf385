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
from psycopg.types.json import Jsonb

from routing.domain.choices import ModelChoice
from routing.domain.complexity import WEIGHTS, ComplexityScore
from routing.models import RoutingDecision
from teams.prepared import run_prepared
from teams.tenancy import before_commit, team_scope

ACTOR = "routing"

_FIELDS = [field.attname for field in RoutingDecision._meta.concrete_fields]
_KEEP = "INSERT INTO routing_routingdecision (COLUMNS) VALUES (VALUES_)".replace(
    "COLUMNS", ", ".join(str(field.column) for field in RoutingDecision._meta.concrete_fields)
).replace("VALUES_", ", ".join(f"${place}" for place in range(1, len(_FIELDS) + 1)))
_TELL = """
UPDATE routing_routingdecision
SET outcome = $3, answered_by = $4, attempts = $5, cost_usd = $6
WHERE team_id = $1 AND id = $2 AND outcome = 'advised'
"""

# So many of each team are removed in one transaction.
_BATCH = 1_000

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A model that did not answer, and why; the reason holds no prompt, answer or key."""

    model: str
    provider: str
    failure: str


def hash_of(*, team_id: UUID, query: str) -> str:
    """A keyed digest, equal for equal queries of a team."""
    return salted_hmac("routing.query", f"{team_id}:{query}", algorithm="sha256").hexdigest()


def told_scores(score: ComplexityScore) -> dict[str, dict[str, object]]:
    """The score by dimension, with its weight and the reason, as answers and rows have it."""
    return {
        name: {"score": value, "weight": WEIGHTS[name], "reason": score.reasons.get(name, "")}
        for name, value in score.dimensions.items()
    }


def keep_decision(decision: RoutingDecision) -> None:
    """Write the decision down; call it in the team's scope."""
    values = [getattr(decision, name) for name in _FIELDS]
    run_prepared(_KEEP, [Jsonb(each) if isinstance(each, dict | list) else each for each in values])
    decision._state.adding = False


def keep_by_itself(decision: RoutingDecision) -> None:
    """Write the decision down in a transaction of its own."""
    with team_scope(team_ids=[decision.team_id], actor=ACTOR):
        keep_decision(decision)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a decision: `choice` is the model that answered, if one did."""

    team_id: UUID
    decision_id: UUID
    outcome: Literal["answered", "cut", "failed"]
    choice: ModelChoice | None
    attempts: Sequence[Attempt]
    cost_usd: Decimal | None


Keep = Callable[[Outcome], None]


def write_outcome(told: Outcome) -> None:
    """Write down what became of the call, the first time it is said; call it in the team's scope.

    Harmless afterwards.
    """
    attempts = [asdict(each) for each in told.attempts]
    name = told.choice.name if told.choice else ""
    run_prepared(
        _TELL,
        [told.team_id, told.decision_id, told.outcome, name, Jsonb(attempts), told.cost_usd],
    )


def note_outcome(told: Outcome) -> None:
    """As `write_outcome`, in a transaction of its own, whatever becomes of the request.

    An answer that was paid for is not lost because the database is away: then it is only logged.
    """
    try:
        with before_commit(None), team_scope(team_ids=[told.team_id], actor=ACTOR):
            write_outcome(told)
    except (DatabaseError, InterfaceError):
        logger.warning("The outcome %s of a decision was not kept.", told.outcome, exc_info=True)


def prune_decisions(*, now: datetime) -> int:
    """Remove the decisions that are older than DECISION_DAYS; returns how many.

    With 0 days none is ever removed.
    """
    if not settings.DECISION_DAYS:
        return 0
    removed = 0
    while True:
        before = now - timedelta(days=settings.DECISION_DAYS)
        ((batch,),) = run_prepared("SELECT palimpsest_prune_decisions($1, $2)", [before, _BATCH])
        removed += int(batch)
        if not batch:
            return removed
