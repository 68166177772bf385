"""One memory through all its versions: what was changed, by whom, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.db.models import OuterRef, QuerySet, Subquery

from audit.models import MemoryLog
from memory.domain.differences import FieldChange, changed_fields, marked_changes
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.selectors.conversations import messages_by_id
from memory.selectors.memories import memory_for
from teams.models import Message

# A summary may rest on thousands of messages; the first ones are quoted.
MAX_QUOTED = 50
_MAX_VERSIONS = 500

_VERSIONS = """
WITH RECURSIVE versions (id, depth) AS (
    SELECT %(memory)s::uuid, 0
  UNION
    SELECT next.id, v.depth + 1
    FROM versions v
    JOIN memory_memory m ON m.team_id = %(team)s AND m.id = v.id
    CROSS JOIN LATERAL (
        VALUES (m.supersedes_id), (m.superseded_by_id)
      UNION ALL
        SELECT retired.id
        FROM memory_contradiction c
        JOIN memory_memory retired ON retired.team_id = c.team_id
            AND retired.id IN (c.memory_a_id, c.memory_b_id) AND retired.superseded_by_id = m.id
        WHERE c.team_id = %(team)s AND (c.memory_a_id = m.id OR c.memory_b_id = m.id)
    ) AS next (id)
    WHERE next.id IS NOT NULL AND v.depth < %(depth)s
)
SELECT DISTINCT id FROM versions LIMIT %(depth)s
"""


@dataclass(frozen=True, slots=True)
class Version:
    """One version, the messages it rests on that the viewer may see, and how many there are."""

    memory: Memory
    messages: Sequence[Message]
    message_count: int


@dataclass(frozen=True, slots=True)
class Step:
    """One change: its log row, the fields that differ, and the marked text where one came."""

    row: MemoryLog
    version: int
    changes: Sequence[FieldChange]
    text_diff: str


def versions_of(*, viewer: Viewer, memory_id: UUID) -> list[Memory]:
    """All versions of a memory that the viewer may see, the latest first.

    What it superseded and what superseded it are versions of it, also what came late and was older
    than what stood: only the contradiction names that from its side. Raises NotFoundError when the
    memory itself is not to be seen. Call it in the team's scope.
    """
    asked = memory_for(viewer=viewer, memory_id=memory_id)
    with connection.cursor() as cursor:
        cursor.execute(
            _VERSIONS, {"memory": asked.pk, "team": viewer.team_id, "depth": _MAX_VERSIONS}
        )
        ids = [row[0] for row in cursor.fetchall()]
    rows = Memory.objects.visible_to(viewer).with_names().filter(id__in=ids)
    return sorted(rows, key=lambda row: (row.version, row.created_at, row.pk), reverse=True)


def with_messages(*, viewer: Viewer, memories: Sequence[Memory]) -> list[Version]:
    """The versions with what they rest on, each message in the order in which it was said."""
    wanted = {message_id for row in memories for message_id in row.source_message_ids[:MAX_QUOTED]}
    found = messages_by_id(viewer=viewer, ids=list(wanted))
    return [
        Version(
            row,
            sorted(
                (found[each] for each in row.source_message_ids[:MAX_QUOTED] if each in found),
                key=lambda message: (message.created_at, message.position),
            ),
            len(row.source_message_ids),
        )
        for row in memories
    ]


def log_of(*, viewer: Viewer, memories: Iterable[Memory]) -> QuerySet[MemoryLog, MemoryLog]:
    """The log of these memories; each row carries the state before it as `before`."""
    earlier = MemoryLog.objects.filter(
        team_id=viewer.team_id, memory_id=OuterRef("memory_id"), seq__lt=OuterRef("seq")
    ).order_by("-seq")
    return MemoryLog.objects.filter(
        team_id=viewer.team_id, memory_id__in=[row.pk for row in memories]
    ).annotate(before=Subquery(earlier.values("state")[:1]))


def names_in(memories: Iterable[Memory]) -> dict[str, str]:
    """What the agents, people and projects of these memories are called, by their ids."""
    named: dict[str, str] = {}
    for memory in memories:
        if memory.agent is not None:
            named[str(memory.agent_id)] = memory.agent.slug
        if memory.end_user is not None:
            named[str(memory.end_user_id)] = memory.end_user.external_id
        if memory.project is not None:
            named[str(memory.project_id)] = memory.project.slug
    return named


def step_of(row: MemoryLog, *, memories: dict[UUID, Memory], names: Mapping[str, str]) -> Step:
    """A row of `log_of` as a step, with the versions by id and `names_in` them."""
    before: dict[str, object] | None = getattr(row, "before", None)
    memory = memories[row.memory_id]
    text = ""
    if before is None:
        old = memories.get(memory.supersedes_id) if memory.supersedes_id else None
        text = marked_changes(old.content if old else "", memory.content)
    return Step(row, memory.version, changed_fields(before, row.state, names=names), text)
