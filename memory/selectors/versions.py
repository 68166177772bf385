"""The chain of versions a memory belongs to: what it replaced, and what replaced it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from memory.models import Memory

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
