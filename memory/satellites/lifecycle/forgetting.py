"""Ranking by use, and forgetting: what moves between the tiers, and what expires.

The rules are those of memory/domain/tiers.py (seed 000, "Tier Manager"; seed 004, §7).
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Q

from memory.domain.tiers import UNUSED_BELOW, cold_because, expires_because, ranked_tier
from memory.domain.types import Status, Tier
from memory.models import Contradiction, MemoryUsage
from memory.satellites.lifecycle.batches import Batch
from memory.satellites.lifecycle.models import ConsolidationChange
from memory.satellites.lifecycle.runs import ACTOR
from memory.satellites.lifecycle.selectors.scope import Scope
from memory.satellites.lifecycle.selectors.standings import to_forget, to_rank
from memory.satellites.lifecycle.steps import Json, Kind, Page, Planned
from memory.selectors.versions import Stood
from memory.services.decisions.state import note_access
from memory.understanding.tools import Tools
from teams.tenancy import team_scope


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
