"""Ranks and forgets memories by their use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.domain.tiers import (
    BACK_ACCESSES,
    HOT_DAYS,
    HOT_IMPORTANCE,
    KEPT_IMPORTANCE,
    OUTDATED_AFTER,
    UNUSED_BELOW,
    cold_because,
    expires_because,
    ranked_tier,
)
from memory.domain.types import Status, Tier
from memory.models import Contradiction, Memory, MemoryUsage
from memory.models.memory import LIVE
from memory.models.querysets import MemoryQuerySet
from memory.satellites.lifecycle.models import ConsolidationChange
from memory.satellites.lifecycle.runs import ACTOR, Batch
from memory.satellites.lifecycle.steps import Json, Kind, Page, Planned, Scope
from memory.selectors.versions import Stood, standings_of
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import note_access
from teams.tenancy import team_scope

PAGE = 500
# Of what is unimportant, a run looks at so many; the next one goes on after them.
UNIMPORTANT = 20_000
_Rows = TypeVar("_Rows", bound="QuerySet[Any, Any]")  # Any: of whatever model


@dataclass(frozen=True, slots=True)
class Standings:
    """A page of them; `cursor` is where the next one begins, `resume` where the next run does."""

    rows: Sequence[Stood]
    cursor: Json = None
    resume: Json = None


def to_rank(*, scope: Scope, cursor: Json) -> Standings:
    """The next memories that their use may move: told lately and not hot, then hot by use."""
    given = cursor or {"part": "used"}
    if given["part"] == "hot":
        rows = _in(scope).filter(
            status__in=LIVE,
            tier=Tier.HOT.value,
            is_pinned=False,
            importance__lt=HOT_IMPORTANCE,
            id__gt=UUID(given.get("after", str(UUID(int=0)))),
        )
        return _page(scope, rows.order_by("id"), part="hot", following=None)
    usages = MemoryUsage.objects.filter(
        team_id=scope.team_id,
        last_accessed_at__gte=scope.now - timedelta(days=HOT_DAYS),
        retrieved__gte=BACK_ACCESSES,
    )
    if "at" in given:
        usages = _behind(usages, "last_accessed_at", given, key="memory_id", backwards=True)
    told = list(usages.order_by("-last_accessed_at", "memory_id")[:PAGE])
    memories = _in(scope).filter(
        status__in=LIVE,
        tier__in=[Tier.WARM.value, Tier.COLD.value],
        id__in=[each.memory_id for each in told],
    )
    after: Json = {"part": "hot"}
    if len(told) == PAGE:
        at = told[-1].last_accessed_at
        assert at is not None
        after = {"part": "used", "at": at.isoformat(), "after": str(told[-1].memory_id)}
    return Standings(standings_of(memories=list(memories.order_by("id")), now=scope.now), after)


def to_forget(*, scope: Scope, cursor: Json, below: int, before: datetime) -> Standings:
    """The next memories that may turn cold or expire.

    What is superseded and not cold, then what held until a time that is over, then what has an
    importance under `below` and is older than `before`, the least important first.
    """
    given = cursor or {"part": "superseded"}
    rows = _in(scope)
    after = UUID(given.get("after", str(UUID(int=0))))
    if given["part"] == "superseded":
        rows = rows.filter(status=Status.SUPERSEDED.value, id__gt=after).exclude(
            tier=Tier.COLD.value
        )
        return _page(scope, rows.order_by("id"), part="superseded", following={"part": "outdated"})
    rows = rows.filter(status=Status.ACTIVE.value, is_pinned=False, importance__lt=KEPT_IMPORTANCE)
    if given["part"] == "outdated":
        rows = rows.exclude(tier=Tier.COLD.value).filter(
            valid_to__isnull=False, valid_to__lt=scope.now - OUTDATED_AFTER
        )
        if "at" in given:
            rows = _behind(rows, "valid_to", given)
        following = scope.resume.get("forget") or {"part": "unimportant", "importance": 1}
        return _page(
            scope,
            rows.order_by("valid_to", "id"),
            part="outdated",
            following={**following, "seen": 0},
            by="valid_to",
        )
    return _unimportant(scope, rows, given, below=below, before=before)


def _unimportant(
    scope: Scope, rows: MemoryQuerySet, given: Json, *, below: int, before: datetime
) -> Standings:
    importance, seen = given["importance"], given["seen"]
    following: Json = {"part": "unimportant", "importance": importance + 1, "seen": seen}
    if importance >= below:
        return Standings(())
    rows = rows.filter(importance=importance, created_at__lt=before)
    if "at" in given:
        rows = _behind(rows, "created_at", given)
    page = _page(
        scope,
        rows.order_by("created_at", "id"),
        part="unimportant",
        following=following if importance + 1 < below else None,
        by="created_at",
    )
    if page.cursor is None:
        return page
    seen += len(page.rows)
    go_on = {"importance": importance, **page.cursor, "seen": seen}
    return Standings(page.rows, *((None, go_on) if seen >= UNIMPORTANT else (go_on, None)))


def _in(scope: Scope) -> MemoryQuerySet:
    """What the run may change, whatever its status."""
    rows = Memory.objects.filter(team_id=scope.team_id)
    if scope.end_user_id is not None:
        rows = rows.filter(end_user_id=scope.end_user_id)
    if scope.project_id is not None:
        rows = rows.filter(project_id=scope.project_id)
    return rows


def _page(
    scope: Scope, rows: MemoryQuerySet, *, part: str, following: Json, by: str = ""
) -> Standings:
    """The next page of rows in their order, by the id or by the column and the id."""
    memories = list(rows[:PAGE])
    cursor = following
    if len(memories) == PAGE:
        last = memories[-1]
        at = {"at": getattr(last, by).isoformat()} if by else {}
        cursor = {"part": part, "after": str(last.pk), **at}
    return Standings(standings_of(memories=memories, now=scope.now), cursor)


def _behind(
    rows: _Rows, column: str, given: Json, *, key: str = "id", backwards: bool = False
) -> _Rows:
    """The rows after the last one of the page before, by the column and then by the id."""
    at, after = datetime.fromisoformat(given["at"]), UUID(given["after"])
    ordered, beyond = ("lte", "lt") if backwards else ("gte", "gt")
    # The first condition is what the index begins with.
    return rows.filter(
        Q(**{f"{column}__{beyond}": at}) | Q(**{f"{key}__gt": after}),
        **{f"{column}__{ordered}": at},
    )


def plan_ranks(scope: Scope, cursor: Json, tools: Tools) -> Page:
    """Make hot what is told often, and warm what no longer is or what is told again."""
    del tools
    with team_scope(team_ids=[scope.team_id], actor=ACTOR):
        page = to_rank(scope=scope, cursor=cursor)
    planned = []
    for each in page.rows:
        tier, why = ranked_tier(each.standing, now=scope.now)
        if why:
            planned.append(_moved(each, tier, why))
    return Page(tuple(planned), page.cursor, page.resume, len(page.rows))


def plan_forgetting(scope: Scope, cursor: Json, tools: Tools) -> Page:
    """Let expire what nobody asked for, and make cold what is superseded, outdated or unused."""
    del tools
    chosen = scope.settings
    expires = chosen.does("expire")
    days = min(chosen.cold_after_days, chosen.expire_after_days if expires else 10**6)
    with team_scope(team_ids=[scope.team_id], actor=ACTOR):
        page = to_forget(
            scope=scope,
            cursor=cursor,
            below=max(UNUSED_BELOW, chosen.expire_below if expires else 0),
            before=scope.now - timedelta(days=days),
        )
    planned = []
    for each in page.rows:
        why = expires and expires_because(
            each.standing,
            below=chosen.expire_below,
            days=chosen.expire_after_days,
            now=scope.now,
        )
        if why:
            planned.append(_expired(each, why, purge_after_days=chosen.purge_after_days))
            continue
        why = cold_because(each.standing, unused_days=chosen.cold_after_days, now=scope.now)
        if why:
            planned.append(_moved(each, Tier.COLD, why))
    return Page(tuple(planned), page.cursor, page.resume, len(page.rows))


def _moved(stood: Stood, tier: Tier, why: str) -> Planned:
    return Planned(
        Kind.MOVE_TIER, stood.memory.pk, why, before=_before(stood), after={"tier": tier.value}
    )


def _expired(stood: Stood, why: str, *, purge_after_days: int) -> Planned:
    accessed_at = stood.standing.last_accessed_at
    return Planned(
        Kind.EXPIRE,
        stood.memory.pk,
        why,
        before=_before(stood),
        after={
            "status": Status.SOFT_DELETED.value,
            "tier": Tier.COLD.value,
            "purge_after_days": purge_after_days,
            # Somebody who is told it meanwhile keeps it.
            "last_accessed_at": accessed_at.isoformat() if accessed_at else None,
        },
    )


def _before(stood: Stood) -> dict[str, Any]:  # Any: a column's value
    names = ("status", "tier", "importance", "is_pinned", "memory_type")
    return {name: getattr(stood.memory, name) for name in names}


class MoveTier:
    """Gives a memory its tier."""

    def make(self, change: ConsolidationChange, batch: Batch) -> str:
        """Make it."""
        memory = batch.memories[change.memory_id]
        memory.tier = change.after["tier"]
        memory.save(update_fields=["tier"])
        return ""

    def take_back(self, change: ConsolidationChange, batch: Batch) -> str:
        """The log holds all of it."""
        del change, batch
        return ""


class Expire:
    """Soft-deletes a memory until it is restored or purged."""

    def make(self, change: ConsolidationChange, batch: Batch) -> str:
        """Make it; returns why not, "" where it is made."""
        memory = batch.memories[change.memory_id]
        usage = MemoryUsage.objects.filter(team_id=batch.team_id, memory_id=memory.pk).first()
        accessed_at = usage.last_accessed_at if usage else None
        if (accessed_at.isoformat() if accessed_at else None) != change.after["last_accessed_at"]:
            return "it was told since"
        disputes = Contradiction.objects.filter(team_id=batch.team_id, resolved_at=None)
        if disputes.filter(Q(memory_a=memory) | Q(memory_b=memory)).exists():
            return "it is in dispute by now"
        memory.status = Status.SOFT_DELETED.value
        memory.tier = Tier.COLD.value
        memory.purge_at = batch.now + timedelta(days=change.after["purge_after_days"])
        memory.save(update_fields=["status", "tier", "purge_at"])
        return ""

    def take_back(self, change: ConsolidationChange, batch: Batch) -> str:
        """Let it count as asked for, or the next run would delete it again."""
        note_access(team_id=batch.team_id, memory_id=change.memory_id, now=batch.now)
        return ""
