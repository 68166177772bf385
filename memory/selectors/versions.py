"""Versions, standings and shorter texts of memories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from memory.domain.levels import Level, Levels, levels_of
from memory.domain.tiers import Standing, recent_accesses
from memory.models import Memory, MemoryUsage
from teams.prepared import fetch_planned

_LONGEST = 100
_CHAIN = """
WITH RECURSIVE later AS (
    SELECT id, superseded_by_id, 0 AS step FROM memory_memory
    WHERE team_id = %(team)s AND id = %(memory)s
    UNION ALL
    SELECT m.id, m.superseded_by_id, l.step + 1
    FROM later l JOIN memory_memory m ON m.team_id = %(team)s AND m.id = l.superseded_by_id
    WHERE l.step < %(longest)s
), earlier AS (
    (SELECT id, 0 AS step FROM later ORDER BY later.step DESC LIMIT 1)
    UNION ALL
    SELECT m.id, e.step + 1
    FROM earlier e JOIN memory_memory m ON m.team_id = %(team)s AND m.superseded_by_id = e.id
    WHERE e.step < %(longest)s
), chain AS (
    SELECT id, min(step) AS step FROM earlier GROUP BY id
)
SELECT id, number FROM (
    SELECT id, row_number() OVER (ORDER BY step DESC, id) AS number, count(*) OVER () AS total
    FROM chain
) AS numbered
WHERE number > total - %(most)s OR id = %(memory)s
"""


@dataclass(frozen=True, slots=True)
class Version:
    """A memory at its place in the chain, counted from 1, the oldest."""

    memory: Memory
    number: int


def versions_of(memory: Memory, *, most: int = 20) -> list[Version]:
    """The last `most` versions of the chain, the oldest first, and the memory where it is older.

    The number is that of the place: `Memory.version` counts corrections alone, and what a
    settlement replaced keeps its own. A memory without other versions is the only one. Two queries.
    """
    given: dict[str, Any] = {  # Any: a parameter of any type
        "team": memory.team_id,
        "memory": memory.pk,
        "longest": _LONGEST,
        "most": most,
    }
    with connection.cursor() as cursor:
        cursor.execute(_CHAIN, given)
        numbers: dict[UUID, int] = dict(cursor.fetchall())
    if set(numbers) <= {memory.pk}:
        return [Version(memory, numbers.get(memory.pk, 1))]
    rows = Memory.objects.filter(team_id=memory.team_id, pk__in=numbers).select_related(
        "agent", "end_user", "project"
    )
    found = [Version(row, numbers[row.pk]) for row in rows]
    return sorted(found, key=lambda version: version.number)


def current_version(memory: Memory) -> Memory:
    """What stands in the memory's place now: the end of its chain, or itself.

    One query, and one more where something did.
    """
    if memory.superseded_by_id is None:
        return memory
    return versions_of(memory, most=1)[-1].memory


@dataclass(frozen=True, slots=True)
class Stood:
    """A memory and where it stands."""

    memory: Memory
    standing: Standing


def standings_of(*, memories: Sequence[Memory], now: datetime) -> list[Stood]:
    """Where each of the memories of one team stands; call it in the team's scope."""
    if not memories:
        return []
    usages = {
        row.memory_id: row
        for row in MemoryUsage.objects.filter(
            team_id=memories[0].team_id, memory_id__in=[each.pk for each in memories]
        )
    }
    return [Stood(each, _standing(each, usages.get(each.pk), now)) for each in memories]


def _standing(memory: Memory, usage: MemoryUsage | None, now: datetime) -> Standing:
    return Standing(
        memory_type=memory.memory_type,
        status=memory.status,
        tier=memory.tier,
        importance=memory.importance,
        is_pinned=memory.is_pinned,
        created_at=memory.created_at,
        valid_to=memory.valid_to,
        last_accessed_at=usage.last_accessed_at if usage else None,
        accesses=usage.retrieved + usage.cited + usage.succeeded if usage else 0,
        recent=recent_accesses(usage.daily, now=now) if usage else 0,
    )


_STORED = """
SELECT memory_id, summary, compressed, index_term, told_at_most FROM memory_memorylevels
WHERE (team_id = %(team)s) IS TRUE AND memory_id = ANY (%(ids)s::uuid[]) AND writer <> ''
    AND (told_at_most <> 'content' OR NOT %(shortened)s)
"""


def stored_levels(
    *, team_id: UUID, ids: Iterable[UUID], is_shortened: bool = False
) -> dict[UUID, Levels]:
    """The levels of those of the memories that have been written; call it in the team's scope.

    With `is_shortened` only of those that prompts no longer tell whole. The caller has made sure
    that its viewer may see the memories.
    """
    wanted = list(ids)
    if not wanted:
        return {}
    given = {"team": team_id, "ids": wanted, "shortened": is_shortened}
    rows = fetch_planned(_STORED, given)
    return {
        pk: Levels(summary, compressed, index_term, Level(told))
        for pk, summary, compressed, index_term, told in rows
    }


def levels_of_memory(memory: Memory) -> Levels:
    """The memory's levels: the stored ones, or what the rules make of its text."""
    stored = stored_levels(team_id=memory.team_id, ids=[memory.pk]).get(memory.pk)
    payload = memory.payload if memory.form else {}
    return stored or levels_of(memory.content, form=memory.form, payload=payload)
