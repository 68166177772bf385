"""The log entries of a memory."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.db import connection

from audit.models import MemoryLog
from memory.models import Memory


def execute(statement: str, params: list[Any] | None = None) -> None:
    """Run raw SQL as the application."""
    with connection.cursor() as cursor:
        cursor.execute(statement, params)


def log_of(memory: Memory) -> list[MemoryLog]:
    """The memory's log, oldest first."""
    return list(MemoryLog.objects.filter(memory_id=memory.pk).order_by("seq"))


def state_of(memory_id: UUID) -> Any:
    """The row's columns as the database has them now, without what the log leaves out."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT to_jsonb(m) - ARRAY['content', 'updated_at', 'salt', 'erased_at', 'audience']"
            " FROM memory_memory m WHERE id = %s",
            [memory_id],
        )
        (state,) = cursor.fetchone()
    return state if isinstance(state, dict) else json.loads(state)


def salt_of(memory_id: UUID) -> bytes:
    """The salt that stands beside the memory's text."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT salt FROM memory_memory WHERE id = %s", [memory_id])
        (salt,) = cursor.fetchone()
    return bytes(salt)
