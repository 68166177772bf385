"""Memories as mem0's client reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from memory.models import Memory
from memory.satellites.mem0.metadata import metadata_in
from teams.models import Conversation

# Any: what JSON holds.
Json = dict[str, Any]
FIELDS = (
    "id",
    "memory",
    "user_id",
    "agent_id",
    "app_id",
    "run_id",
    "hash",
    "metadata",
    "categories",
    "created_at",
    "updated_at",
    "expiration_date",
    "immutable",
)


def shown(memories: Sequence[Memory], *, fields: Sequence[str] | None = None) -> list[Json]:
    """The memories, loaded `with_names`, with all fields or those named and the id.

    Call it in the team's scope.
    """
    talks = {row.conversation_id for row in memories if row.conversation_id}
    teams = {row.team_id for row in memories}
    rows = Conversation.objects.filter(team_id__in=teams, pk__in=talks) if talks else ()
    runs = {row.pk: row.thread_id for row in rows if row.thread_id != str(row.pk)}
    found = [_memory(row, run=runs.get(row.conversation_id or UUID(int=0))) for row in memories]
    kept = FIELDS if fields is None else ("id", *fields)
    return [{name: each[name] for name in FIELDS if name in kept} for each in found]


def _memory(memory: Memory, *, run: str | None) -> Json:
    return {
        "id": str(memory.pk),
        "memory": memory.content,
        "user_id": memory.end_user.external_id if memory.end_user else None,
        "agent_id": memory.agent.slug if memory.agent else None,
        "app_id": memory.project.slug if memory.project else None,
        "run_id": run,
        "hash": hashlib.md5(memory.content.encode(), usedforsecurity=False).hexdigest(),
        "metadata": metadata_in(memory.tags),
        "categories": [memory.category] if memory.category else [],
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "expiration_date": _last_day(memory.valid_to),
        "immutable": False,
    }


def _last_day(end: datetime | None) -> str | None:
    return (end - timedelta(microseconds=1)).date().isoformat() if end else None
