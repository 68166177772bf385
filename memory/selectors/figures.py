"""Figures of a team: days, usage and operational events."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import (
    Avg,
    Count,
    F,
    IntegerField,
    Max,
    Model,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
)
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce, TruncDate

from audit.models import OperationalEvent
from memory.models import Contradiction, Job, Memory, MemoryUsage
from routing.models import RoutingDecision, SpendEntry
from teams.models import EndUser

# One value for each day of a period, by the name of what is counted; None where there is none.
Series = Mapping[str, Sequence[float | None]]

_READS = ("search", "context", "chat")
# What a judge decides by itself, such as that news replaces what was, is no dispute.
_DISPUTE = "dispute"


@dataclass(frozen=True, slots=True)
class Period:
    """The `length` days of a time zone that end with `last`, which is included."""

    last: date
    length: int
    zone: tzinfo

    @property
    def days(self) -> list[date]:
        """Its days, the first one first."""
        return [self.last - timedelta(days=back) for back in reversed(range(self.length))]

    @property
    def begins_at(self) -> datetime:
        """The midnight at which its first day begins."""
        return datetime.combine(self.days[0], time(), self.zone)

    @property
    def ends_at(self) -> datetime:
        """The midnight at which its last day ends."""
        return datetime.combine(self.last + timedelta(days=1), time(), self.zone)


def stored_by_type(*, team_ids: Sequence[UUID], period: Period) -> Series:
    """Memories by type and the day they were created on."""
    return _by_kind(Memory, "created_at", team_ids, period, by="memory_type")


def retrievals(*, team_ids: Sequence[UUID], period: Period) -> Series:
    """Searches, prompts (`context`) and chats by day."""
    return _by_kind(OperationalEvent, "at", team_ids, period, by="op", op__in=_READS)


def extracted(*, team_ids: Sequence[UUID], period: Period) -> Series:
    """`memories` learned from how many `messages`, by the day the job was made on."""
    rows = list(
        _of(Job, "created_at", team_ids, period, state=Job.State.DONE)
        .values(day=TruncDate("created_at", tzinfo=period.zone))
        .annotate(
            memories=Sum(_figure("created") + _figure("versioned")),
            messages=Sum(_figure("messages_read")),
        )
    )
    return {
        name: _spread(((row["day"], row[name]) for row in rows), period)
        for name in ("memories", "messages")
    }


@dataclass(frozen=True, slots=True)
class Learned:
    """How many memories an agent's conversations yielded on a day, and when the last ones came."""

    team_id: UUID
    agent_id: UUID
    agent: str
    day: date
    memories: int
    last_at: datetime


def learned_by_agents(*, team_ids: Sequence[UUID], since: datetime, zone: tzinfo) -> list[Learned]:
    """What extractions that ended since then yielded, by agent and day of the zone."""
    rows = (
        Job.objects.filter(team_id__in=team_ids, state=Job.State.DONE, finished_at__gte=since)
        .order_by()
        .values(
            "team_id",
            agent_id=F("conversation__agent_id"),
            agent=F("conversation__agent__slug"),
            day=TruncDate("finished_at", tzinfo=zone),
        )
        .annotate(
            memories=Sum(_figure("created") + _figure("versioned")), last_at=Max("finished_at")
        )
        .filter(memories__gt=0)
    )
    return [Learned(**row) for row in rows]


def disputes(*, team_ids: Sequence[UUID], period: Period) -> Series:
    """Disputes that were `found` and those that were `settled`, by day."""
    return {
        "found": _by_day(Contradiction, "detected_at", team_ids, period, verdict=_DISPUTE),
        "settled": _by_day(Contradiction, "resolved_at", team_ids, period, verdict=_DISPUTE),
    }


def spent_by_tier(*, team_ids: Sequence[UUID], period: Period) -> Series:
    """USD that calls of models cost, by tier and day."""
    rows = _of(SpendEntry, "at", team_ids, period).values_list(
        "tier", TruncDate("at", tzinfo=period.zone)
    )
    return _by_name(rows.annotate(usd=Sum("cost_usd")), period)


def stand_ins(*, team_ids: Sequence[UUID], period: Period) -> Series:
    """By day, where a model failed: `extraction` done by the fallback, `chat` by another model."""
    return {
        "extraction": _by_day(OperationalEvent, "at", team_ids, period, op="stand_in"),
        "chat": _by_day(RoutingDecision, "at", team_ids, period, ~Q(attempts=[])),
    }


def _figure(name: str) -> Coalesce:
    return Coalesce(Cast(KT(f"result__{name}"), IntegerField()), 0)


def _of(
    model: type[Model], at: str, team_ids: Sequence[UUID], period: Period, *q: Q, **conditions: Any
) -> QuerySet[Any]:  # Any: lookups, and rows of whatever is counted
    """The teams' rows of the period that meet the conditions."""
    times = {f"{at}__gte": period.begins_at, f"{at}__lt": period.ends_at}
    rows = model._default_manager.filter(*q, team_id__in=team_ids, **times, **conditions)
    return rows.order_by()


def _by_day(
    model: type[Model], at: str, team_ids: Sequence[UUID], period: Period, *q: Q, **conditions: Any
) -> list[float]:  # Any: lookups
    days = _of(model, at, team_ids, period, *q, **conditions).values_list(
        TruncDate(at, tzinfo=period.zone)
    )
    return _spread(days.annotate(count=Count("*")), period)


def _by_kind(
    model: type[Model],
    at: str,
    team_ids: Sequence[UUID],
    period: Period,
    *,
    by: str,
    **conditions: Any,
) -> Series:  # Any: lookups
    kinds = _of(model, at, team_ids, period, **conditions).values_list(
        by, TruncDate(at, tzinfo=period.zone)
    )
    return _by_name(kinds.annotate(count=Count("*")), period)


def _by_name(rows: Iterable[tuple[str, date, int | Decimal]], period: Period) -> Series:
    found: dict[str, list[tuple[date, int | Decimal]]] = {}
    for name, day, amount in rows:
        found.setdefault(name, []).append((day, amount))
    return {name: _spread(found[name], period) for name in sorted(found)}


def _spread(rows: Iterable[tuple[date, int | Decimal | None]], period: Period) -> list[float]:
    """The amounts in the order of the days, 0 for one without."""
    amounts = {day: float(amount or 0) for day, amount in rows}
    return [amounts.get(day, 0.0) for day in period.days]


@dataclass(frozen=True, slots=True)
class UsageCounts:
    """How often a memory was retrieved in the last days, and ever cited or ignored.

    `last_accessed_at` is its last retrieval, None for none.
    """

    retrieved_lately: int = 0
    last_accessed_at: datetime | None = None
    cited: int = 0
    ignored: int = 0


def usage_counts(
    *, team_id: UUID, memory_ids: Collection[UUID], days: int, now: datetime
) -> dict[UUID, UsageCounts]:
    """The counts of each of the memories; call it in the team's scope.

    `days` are whole days in UTC that end with today, at most `KEPT_DAYS` of
    `memory.reading.usage`. What waits in Redis, for some seconds, is not counted yet.
    """
    first = (now.astimezone(UTC) - timedelta(days=days - 1)).date().isoformat()
    rows = MemoryUsage.objects.filter(team_id=team_id, memory_id__in=memory_ids)
    known = {
        row.memory_id: UsageCounts(
            sum(int(count) for day, count in row.daily.items() if day >= first),
            row.last_accessed_at,
            row.cited,
            row.ignored,
        )
        for row in rows
    }
    return {memory_id: known.get(memory_id, UsageCounts()) for memory_id in memory_ids}


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
