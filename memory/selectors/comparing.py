"""What a write reads of the memories that new ones meet, in as little time as it takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS
from django.db.models.base import ModelState

from memory.models import Memory
from memory.selectors.prepared import fetch_planned

_COMPARED = (
    "id",
    "team_id",
    "content",
    "subject",
    "created_at",
    "memory_type",
    "agent_id",
    "end_user_id",
    "project_id",
)
_WHOLE = tuple(field.attname for field in Memory._meta.concrete_fields)
_LIVE = """
SELECT {columns} FROM memory_memory
WHERE team_id = %(team)s AND id = ANY(%(ids)s) AND status IN ('active', 'disputed')
"""
_READ = _LIVE.format(columns=", ".join(_COMPARED))
_LOCK = _LIVE.format(columns=", ".join(_WHOLE)) + "ORDER BY id FOR UPDATE"


def live_memories(*, team_id: UUID, ids: Iterable[UUID]) -> dict[UUID, Memory]:
    """Those of the memories that are live, with what tells what they say and who sees them.

    Whatever else is asked of one is read by itself then.
    """
    rows = fetch_planned(_READ, {"team": team_id, "ids": list(ids)})
    return {row[0]: _memory(_COMPARED, row) for row in rows}


def locked_memories(*, team_id: UUID, ids: Iterable[UUID]) -> dict[UUID, Memory]:
    """Those of the memories that are live, whole, and no one else's until the transaction ends.

    Everybody locks in the order of ids.
    """
    rows = fetch_planned(_LOCK, {"team": team_id, "ids": list(ids)})
    memories = (_memory(_WHOLE, row) for row in rows)
    return {memory.pk: memory for memory in memories}


def _memory(names: Sequence[str], values: Sequence[object]) -> Memory:
    """As `Model.from_db`, but its fields at once: it sets them one by one for every row."""
    memory = Memory.__new__(Memory)
    memory.__dict__.update(zip(names, values, strict=True))
    memory._state = ModelState()
    memory._state.adding = False
    memory._state.db = DEFAULT_DB_ALIAS
    return memory
