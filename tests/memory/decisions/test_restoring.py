"""Memories that come back, beside writers who store the same fact at that moment."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from django.db import connection, connections

from memory.models import Memory
from memory.writing.decisions.changes import delete_memory
from memory.writing.decisions.moving import restore_memory
from memory.writing.write_path import prepare, store
from teams.errors import ConflictError
from teams.tenancy import team_scope
from tests.support.hot_desk import Desk, desk, town
from tests.support.waiting import PATIENCE_SECONDS, until, waits
from tests.support.writing import draft

__all__ = ["desk", "town"]

TEXT = "The kiln is in the cellar."


def test_what_is_stored_anew_at_the_same_moment_is_told_of(desk: Desk) -> None:
    (gone,) = desk.remember(TEXT, check=True)
    delete_memory(viewer=desk.viewer, memory_id=gone.pk)
    again = prepare(drafts=[draft(desk.cast, TEXT)], tools=desk.tools)
    backends: list[int] = []

    def restore() -> Memory:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                backends.append(cursor.fetchone()[0])
            return restore_memory(viewer=desk.viewer, memory_id=gone.pk, tools=desk.tools)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with team_scope(team_ids=[desk.cast.team.id], actor="test"):
            (stored,) = store(viewer=desk.viewer, prepared=again, tools=desk.tools)
            restored: Future[Memory] = pool.submit(restore)
            until(lambda: backends and waits(backends[0]))
        with pytest.raises(ConflictError, match=rf"Another memory \({stored.memory.pk}\) already"):
            restored.result(timeout=PATIENCE_SECONDS)

    with team_scope(team_ids=[desk.cast.team.id], actor="test"):
        live = Memory.objects.filter(content=TEXT).exclude(status="soft_deleted")
        assert [memory.pk for memory in live] == [stored.memory.pk]
