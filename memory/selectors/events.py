"""Operational events: lists and counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from uuid import UUID

from django.db.models import Avg, Count, Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import TruncDate

from audit.models import OperationalEvent
from teams.models import EndUser


@dataclass(frozen=True, slots=True)
class EventFilters:
    """What events are narrowed to; all that are given must hold; times include the first."""

    node: str | None = None
    op: Sequence[str] = ()
    status: str | None = None
    memory: UUID | None = None
    conversation: UUID | None = None
    user: str | None = None
    begin: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class EventCount:
    """How often something was done on one day (UTC), and how near the nearest neighbours were."""

    day: date
    node: str
    op: str
    status: str
    count: int
    mean_similarity: float | None
    best_similarity: float | None


def filtered_events(
    *, team_id: UUID, filters: EventFilters
) -> QuerySet[OperationalEvent, OperationalEvent]:
    """The team's events that match, each with its person's external id as `user`."""
    conditions = {
        "node": filters.node,
        "op__in": filters.op or None,
        "status": filters.status,
        "memory_id": filters.memory,
        "conversation_id": filters.conversation,
        "at__gte": filters.begin,
        "at__lt": filters.end,
    }
    rows = OperationalEvent.objects.filter(
        team_id=team_id,
        **{name: value for name, value in conditions.items() if value is not None},
    )
    people = EndUser.objects.filter(team_id=team_id)
    if filters.user is not None:
        rows = rows.filter(end_user_id__in=people.filter(external_id=filters.user).values("id"))
    named = people.filter(id=OuterRef("end_user_id")).values("external_id")
    return rows.annotate(user=Subquery(named[:1]))


def event_counts(*, team_id: UUID, filters: EventFilters) -> list[EventCount]:
    """The matching events counted by day, node, op and status; the latest day first."""
    rows = (
        filtered_events(team_id=team_id, filters=filters)
        .order_by()
        .values("node", "op", "status", day=TruncDate("at", tzinfo=UTC))
        .annotate(
            count=Count("id"),
            mean_similarity=Avg("similarity"),
            best_similarity=Max("similarity"),
        )
        .order_by("-day", "node", "op", "status")
    )
    return [EventCount(**row) for row in rows]
