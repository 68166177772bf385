"""The history of one memory, and memories of a past moment."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import connection
from django.db.models import (
    BooleanField,
    Field,
    Func,
    JSONField,
    OuterRef,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.sql import Query
from django.db.models.sql.compiler import SQLCompiler
from psycopg import sql

from audit.models import MemoryLog
from audit.selectors import Instant
from memory.domain.audience import Viewer
from memory.domain.differences import FieldChange, changed_fields, marked_changes
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet
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
    """One change: its log row, the fields that differ, and the marked text of a new version."""

    row: MemoryLog
    version: int
    changes: Sequence[FieldChange]
    text_diff: str


def versions_of(*, viewer: Viewer, memory_id: UUID) -> list[Memory]:
    """Returns all versions of a memory that the viewer may see, latest first; call it in scope.

    Also those that came late and were older than what stood: only the contradiction names them.
    Raises NotFoundError if the memory itself is not visible.
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
    """Returns the versions with their messages in the order in which these were said."""
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
    """Returns the log of these memories; each row carries the state before it as `before`."""
    earlier = MemoryLog.objects.filter(
        team_id=viewer.team_id, memory_id=OuterRef("memory_id"), seq__lt=OuterRef("seq")
    ).order_by("-seq")
    return MemoryLog.objects.filter(
        team_id=viewer.team_id, memory_id__in=[row.pk for row in memories]
    ).annotate(before=Subquery(earlier.values("state")[:1]))


def names_in(memories: Iterable[Memory]) -> dict[str, str]:
    """Returns the names of the agents, people and projects of these memories, by their ids."""
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
    """Returns a row of `log_of` as a step, with the versions by id and `names_in` them."""
    before: dict[str, object] | None = getattr(row, "before", None)
    memory = memories[row.memory_id]
    text = ""
    if before is None:
        old = memories.get(memory.supersedes_id) if memory.supersedes_id else None
        text = marked_changes(old.content if old else "", memory.content)
    return Step(row, memory.version, changed_fields(before, row.state, names=names), text)


# A memory's rows follow each other in the order of their numbers, as whoever changes a memory holds
# its row until the commit. So the last one up to the instant is the one with the greatest number
# among those of its commits; rows of later commits with smaller numbers are passed over. The commit
# is asked row by row, from the greatest number down: a join would read all rows to that point. What
# was sealed by then need not be asked. A text is read for the rows of the answer alone.
_PAST = """
WITH "memory_memory" AS NOT MATERIALIZED (
    SELECT {columns}
    FROM public.audit_memorylog AS birth
    CROSS JOIN LATERAL (
        SELECT entry.state, entry.at FROM public.audit_memorylog AS entry
        WHERE entry.team_id = birth.team_id AND entry.memory_id = birth.memory_id
            AND entry.seq <= %s AND entry.detail IS NULL
            AND (entry.seq <= %s OR (
                SELECT done.position FROM public.audit_logcommit AS done
                WHERE done.team_id = entry.team_id AND done.id = entry.commit_id
            ) <= %s)
        ORDER BY entry.seq DESC LIMIT 1
    ) AS past
    WHERE birth.team_id = %s AND birth.is_first AND birth.memory_id <= %s AND birth.seq <= %s
        {among}
)
"""
# Every memory that was ever about the person until then; the filter of the query does the rest.
_OF_PERSON = """
        AND birth.memory_id IN (
            SELECT about.memory_id FROM public.audit_memorylog AS about
            WHERE about.team_id = %s AND about.new_end_user_id = %s AND about.seq <= %s
        )
"""
_STATE_TAGS = "state_tags"
_ELSEWHERE = {
    "id": "birth.memory_id",
    "team_id": "birth.team_id",
    "content": "(SELECT text.content FROM public.memory_memory AS text"
    " WHERE text.team_id = birth.team_id AND text.id = birth.memory_id)",
    "updated_at": "past.at",
    "audience": "public.palimpsest_audience(past.state->>'memory_type',"
    " (past.state->>'agent_id')::uuid, (past.state->>'end_user_id')::uuid)",
}


def as_of(
    rows: MemoryQuerySet, instant: Instant, *, end_user_id: UUID | None = None
) -> MemoryQuerySet:
    """Returns the same query over the memories as they stood at the instant.

    Name the person of a query about one: it is faster in a large team.
    """
    past = rows.all()
    query = cast(_PastQuery, past.query.chain(klass=_PastQuery))
    query.instant, query.end_user_id = instant, end_user_id
    past.query = query
    return past


def tagged_q(tags: Sequence[str]) -> Func:
    """Returns the condition of rows of `as_of` with all of the tags: faster than the column."""
    return Func(
        Value(json.dumps(list(tags))),
        template=f'"memory_memory"."{_STATE_TAGS}" @> %(expressions)s::jsonb',
        output_field=BooleanField(),
    )


class _PastQuery(Query):
    instant: Instant
    end_user_id: UUID | None

    def get_compiler(self, *args: Any, **kwargs: Any) -> SQLCompiler:  # Any: Django's own
        compiler = super().get_compiler(*args, **kwargs)
        return _PastCompiler(
            self, compiler.connection, compiler.using, elide_empty=compiler.elide_empty
        )


class _PastCompiler(SQLCompiler):
    query: _PastQuery

    def as_sql(self, *args: Any, **kwargs: Any) -> tuple[str, tuple[Any, ...]]:
        # Any: Django's own signature and parameters
        statement, params = super().as_sql(*args, **kwargs)
        if self.query.subquery:
            return statement, tuple(params)
        of = self.query.instant
        bounds: list[object]
        bounds = [of.last_seq, of.settled_seq, of.position]
        bounds += [of.team_id, of.last_memory_id, of.last_seq]
        among = ""
        if self.query.end_user_id is not None:
            among = _OF_PERSON
            bounds += [of.team_id, self.query.end_user_id, of.last_seq]
        past = _PAST.format(columns=_columns(), among=among)
        return past + statement, (*bounds, *params)


def _columns() -> str:
    columns = [
        f'{_ELSEWHERE.get(str(field.column)) or _from_state(field)} AS "{field.column}"'
        for field in Memory._meta.concrete_fields
    ]
    return ", ".join([*columns, f"past.state->'tags' AS {_STATE_TAGS}"])


def _from_state(field: Field[Any, Any]) -> str:  # Any: whatever the column holds
    """The column of a state as the table has it; a name and a type of ours, no input.

    A row of the log from before the column was added has the column's default.
    """
    kind = field.rel_db_type(connection) if field.is_relation else field.db_type(connection)
    if isinstance(field, ArrayField):
        return f"ARRAY(SELECT jsonb_array_elements_text(past.state->'{field.column}'))::{kind}"
    if isinstance(field, JSONField):
        return f"coalesce(past.state->'{field.column}', '{{}}')"
    value = f"(past.state->>'{field.column}')::{kind}"
    if field.null or not isinstance(field.default, str | int | float):
        return value
    default = sql.Literal(field.default).as_string().replace("%", "%%")
    return f"coalesce({value}, {default})"
