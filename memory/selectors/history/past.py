"""Memories as they stood at an instant, rebuilt from the log and the texts.

`as_of` gives any query over memories the past in the place of the table, so that visibility,
filters and pages are those of every other read. A common table expression named like the table
does it: in the query, the table's name means the rows of the log that were the last ones of their
memories then. Nothing of what a row says now is read but its text, which never changes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import connection
from django.db.models import BooleanField, Field, Func, JSONField, Value
from django.db.models.sql import Query
from django.db.models.sql.compiler import SQLCompiler
from psycopg import sql

from audit.selectors.instants import Instant
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet

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
    """The same query over the memories as they stood at the instant.

    A query that only wants memories about one person says so to be fast in a large team.
    """
    past = rows.all()
    query = cast(_PastQuery, past.query.chain(klass=_PastQuery))
    query.instant, query.end_user_id = instant, end_user_id
    past.query = query
    return past


def tagged_q(tags: Sequence[str]) -> Func:
    """What of `as_of` bears all of the tags, asked of the state: faster than the column."""
    return Func(
        Value(json.dumps(list(tags))),
        template=f'"memory_memory"."{_STATE_TAGS}" @> %(expressions)s::jsonb',
        output_field=BooleanField(),
    )


class _PastQuery(Query):
    """A query whose memories are those of an instant."""

    instant: Instant
    end_user_id: UUID | None

    def get_compiler(self, *args: Any, **kwargs: Any) -> SQLCompiler:  # Any: Django's own
        compiler = super().get_compiler(*args, **kwargs)
        return _PastCompiler(
            self, compiler.connection, compiler.using, elide_empty=compiler.elide_empty
        )


class _PastCompiler(SQLCompiler):
    """Puts the past in front of the statement."""

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

    A row of the log from before the column was added has what the column was added with.
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
