"""The figures of the admin's home, kept in Redis for each set of teams."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, tzinfo
from uuid import UUID

import orjson
from django.conf import settings

from memory.selectors.figures import (
    Period,
    Series,
    disputes,
    extracted,
    retrievals,
    spent_by_tier,
    stand_ins,
    stored_by_type,
)
from routing.clients.quick_redis import quick_redis

DAYS = 30
TODAY_SECONDS = 60
# What was counted of the days that are over hardly changes.
PAST_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class Figures:
    """Series over the last `DAYS` days, which `days` names (ISO dates)."""

    days: Sequence[str]
    stored: Series
    retrievals: Series
    extracted: Series
    disputes: Series
    spent: Series
    stand_ins: Series


def figures_of(*, team_ids: Sequence[UUID], zone: tzinfo, now: datetime) -> Figures:
    """The figures of these teams together, by days of the zone.

    Those of today are at most a minute old, those of the days before at most an hour. Call it in a
    scope that shows these teams.
    """
    today = now.astimezone(zone).date()
    past = Period(today - timedelta(days=1), DAYS - 1, zone)
    before = _kept(team_ids, past, seconds=PAST_SECONDS)
    since = _kept(team_ids, Period(today, 1, zone), seconds=TODAY_SECONDS)
    return Figures(
        days=[*before.days, *since.days],
        stored=_joined(before.stored, since.stored),
        retrievals=_joined(before.retrievals, since.retrievals),
        extracted=_joined(before.extracted, since.extracted),
        disputes=_joined(before.disputes, since.disputes),
        spent=_joined(before.spent, since.spent),
        stand_ins=_joined(before.stand_ins, since.stand_ins),
    )


def _kept(team_ids: Sequence[UUID], period: Period, *, seconds: int) -> Figures:
    teams = ",".join(sorted(map(str, team_ids)))
    name = f"{teams}|{period.zone}|{period.last}|{period.length}"
    key = f"{settings.REDIS_PREFIX}:figures:{hashlib.sha256(name.encode()).hexdigest()}"
    if kept := quick_redis().ask(lambda client: client.get(key)):
        return Figures(**orjson.loads(kept))
    figures = _counted(team_ids, period)
    written = orjson.dumps(asdict(figures))
    quick_redis().ask(lambda client: client.set(key, written, ex=seconds))
    return figures


def _joined(before: Series, since: Series) -> Series:
    """The days of one after those of the other; a name that one lacks has zeros there."""
    return {
        name: [*before.get(name, [0.0] * (DAYS - 1)), *since.get(name, [0.0])]
        for name in sorted({*before, *since})
    }


def _counted(team_ids: Sequence[UUID], period: Period) -> Figures:
    return Figures(
        days=[day.isoformat() for day in period.days],
        stored=stored_by_type(team_ids=team_ids, period=period),
        retrievals=retrievals(team_ids=team_ids, period=period),
        extracted=extracted(team_ids=team_ids, period=period),
        disputes=disputes(team_ids=team_ids, period=period),
        spent=spent_by_tier(team_ids=team_ids, period=period),
        stand_ins=stand_ins(team_ids=team_ids, period=period),
    )
