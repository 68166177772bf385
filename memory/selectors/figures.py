"""Figures of teams: the series of the admin's home, what agents learned, operational events."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db.models import (
    Aggregate,
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
from memory.models import Contradiction, Job, Memory
from memory.selectors.filters import lookups
from routing.clients.quick_redis import quick_redis
from routing.models import RoutingDecision, SpendEntry
from teams.models import EndUser

DAYS = 30
_TODAY_SECONDS = 60
# Counts of the days that are over hardly change.
_PAST_SECONDS = 3600
_READS = ("search", "context", "chat")
# A judge's own decisions, such as that news replaces what was, are no disputes.
_DISPUTE = "dispute"
# One value for each day of a period, by the name of what is counted; None where there is none.
Series = Mapping[str, Sequence[float | None]]


_ROWS = Count("*")


@dataclass(frozen=True, slots=True)
class Figures:
    """Series over the last `DAYS` days, which `days` names (ISO dates).

    Memories `stored` by type, `retrievals` by operation, memories `extracted` from messages,
    `disputes` found and settled, USD `spent` by tier, and `stand_ins` where a model failed:
    extraction by the fallback and chat by another model.
    """

    days: Sequence[str]
    stored: Series
    retrievals: Series
    extracted: Series
    disputes: Series
    spent: Series
    stand_ins: Series


def figures_of(*, team_ids: Sequence[UUID], zone: tzinfo, now: datetime) -> Figures:
    """Returns the figures of these teams together, by days of the zone.

    Those of today are at most a minute old, those of the days before at most an hour. Call it in a
    scope that shows these teams.
    """
    today = now.astimezone(zone).date()
    past = _Period(team_ids, today - timedelta(days=1), DAYS - 1, zone)
    before = past.cached(seconds=_PAST_SECONDS)
    since = _Period(team_ids, today, 1, zone).cached(seconds=_TODAY_SECONDS)
    nothing = [0.0] * (DAYS - 1)
    return Figures(
        days=[*(day.isoformat() for day in past.days), today.isoformat()],
        **{
            kind: {
                name: [*before[kind].get(name, nothing), *since[kind].get(name, [0.0])]
                for name in sorted({*before[kind], *since[kind]})
            }
            for kind in before
        },
    )


@dataclass(frozen=True, slots=True)
class _Period:
    """The `length` days of a time zone up to `last`, included, in which rows of teams count."""

    team_ids: Sequence[UUID]
    last: date
    length: int
    zone: tzinfo

    @property
    def days(self) -> list[date]:
        return [self.last - timedelta(days=back) for back in reversed(range(self.length))]

    def cached(self, *, seconds: int) -> Mapping[str, Series]:
        teams = ",".join(sorted(map(str, self.team_ids)))
        name = f"{teams}|{self.zone}|{self.last}|{self.length}"
        key = f"{settings.REDIS_PREFIX}:series:{hashlib.sha256(name.encode()).hexdigest()}"
        if kept := quick_redis().ask(lambda client: client.get(key)):
            cached: Mapping[str, Series] = orjson.loads(kept)
            return cached
        counted = self.counted()
        quick_redis().ask(lambda client: client.set(key, orjson.dumps(counted), ex=seconds))
        return counted

    def counted(self) -> Mapping[str, Series]:
        learned, read = _result("created") + _result("versioned"), _result("messages_read")
        extracted = {"memories": Sum(learned), "messages": Sum(read)}
        failed = ~Q(attempts=[])
        return {
            "stored": self.by_kind(Memory, "created_at", "memory_type"),
            "retrievals": self.by_kind(OperationalEvent, "at", "op", op__in=_READS),
            "extracted": self.by_day(Job, "created_at", extracted, state=Job.State.DONE),
            "disputes": {
                **self.by_day(Contradiction, "detected_at", {"found": _ROWS}, verdict=_DISPUTE),
                **self.by_day(Contradiction, "resolved_at", {"settled": _ROWS}, verdict=_DISPUTE),
            },
            "spent": self.by_kind(SpendEntry, "at", "tier", amount=Sum("cost_usd")),
            "stand_ins": {
                **self.by_day(OperationalEvent, "at", {"extraction": _ROWS}, op="stand_in"),
                **self.by_day(RoutingDecision, "at", {"chat": _ROWS}, failed),
            },
        }

    def rows(self, model: type[Model], at: str, *q: Q, **conditions: Any) -> QuerySet[Any]:
        # Any: lookups, and rows of whatever is counted
        begin = datetime.combine(self.days[0], time(), self.zone)
        end = datetime.combine(self.last + timedelta(days=1), time(), self.zone)
        times = {f"{at}__gte": begin, f"{at}__lt": end}
        rows = model._default_manager.filter(*q, team_id__in=self.team_ids, **times, **conditions)
        return rows.order_by()

    def by_day(
        self,
        model: type[Model],
        at: str,
        amounts: Mapping[str, Aggregate],
        *q: Q,
        **conditions: Any,  # Any: lookups
    ) -> Series:
        days = self.rows(model, at, *q, **conditions).values(day=TruncDate(at, tzinfo=self.zone))
        found = {row["day"]: row for row in days.annotate(**amounts)}
        return {
            name: [float(found.get(day, {}).get(name) or 0) for day in self.days]
            for name in amounts
        }

    def by_kind(
        self,
        model: type[Model],
        at: str,
        by: str,
        *,
        amount: Aggregate = _ROWS,
        **conditions: Any,  # Any: lookups
    ) -> Series:
        rows = self.rows(model, at, **conditions).values_list(by, TruncDate(at, tzinfo=self.zone))
        found: dict[str, dict[date, float]] = defaultdict(dict)
        for name, day, counted in rows.annotate(amount=amount):
            found[name][day] = float(counted or 0)
        return {name: [found[name].get(day, 0.0) for day in self.days] for name in sorted(found)}


def _result(name: str) -> Coalesce:
    return Coalesce(Cast(KT(f"result__{name}"), IntegerField()), 0)


@dataclass(frozen=True, slots=True)
class Learned:
    """The number of memories from an agent's conversations on a day, and the time of the last."""

    team_id: UUID
    agent_id: UUID
    agent: str
    day: date
    memories: int
    last_at: datetime


def learned_by_agents(*, team_ids: Sequence[UUID], since: datetime, zone: tzinfo) -> list[Learned]:
    """Returns what extractions that ended since then yielded, by agent and day of the zone."""
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
            memories=Sum(_result("created") + _result("versioned")), last_at=Max("finished_at")
        )
        .filter(memories__gt=0)
    )
    return [Learned(**row) for row in rows]


@dataclass(frozen=True, slots=True)
class EventFilters:
    """Filters of events, all of which must hold; `begin` is included, `end` is not."""

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
    """The number of events on one day (UTC), and how near the nearest neighbours were."""

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
    """Returns the team's events that match, each with its person's external id as `user`."""
    conditions = lookups(
        node=filters.node,
        op__in=filters.op,
        status=filters.status,
        memory_id=filters.memory,
        conversation_id=filters.conversation,
        at__gte=filters.begin,
        at__lt=filters.end,
    )
    rows = OperationalEvent.objects.filter(team_id=team_id, **conditions)
    people = EndUser.objects.filter(team_id=team_id)
    if filters.user is not None:
        rows = rows.filter(end_user_id__in=people.filter(external_id=filters.user).values("id"))
    named = people.filter(id=OuterRef("end_user_id")).values("external_id")
    return rows.annotate(user=Subquery(named[:1]))


def event_counts(*, team_id: UUID, filters: EventFilters) -> list[EventCount]:
    """Returns the matching events by day, node, op and status, the latest day first."""
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
