"""A memory is put away: prompts leave it out, and it can come back."""

from __future__ import annotations

import pytest

from audit.models import MemoryLog
from memory.domain.audience import Viewer
from memory.models import Contradiction, Memory
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import archive_memory, pin_memory
from memory.writing.decisions.moving import restore_memory
from teams.errors import ConflictError, NotFoundError
from tests.support.admin import two
from tests.support.cast import Cast
from tests.support.corrections import now_is, stored


def viewer_of(cast: Cast) -> Viewer:
    """Staff of the team."""
    return Viewer(team_id=cast.team.id, actor="staff:rob")


def test_an_archived_memory_is_cold_unpinned_and_logged(acme: Cast, tools: Tools) -> None:
    memory = stored(acme, tools)
    pin_memory(viewer=viewer_of(acme), memory_id=memory.pk, pinned=True)

    for _ in range(2):
        archive_memory(viewer=viewer_of(acme), memory_id=memory.pk, reason="last year's")

    now = now_is(memory)
    assert (now.status, now.tier, now.is_pinned) == ("archived", "cold", False)
    rows = MemoryLog.objects.filter(memory_id=memory.pk, event="archived")
    assert [(row.actor, row.reason) for row in rows] == [("staff:rob", "last year's")]


def test_it_comes_back_pinned_as_it_was(acme: Cast, tools: Tools) -> None:
    memory = stored(acme, tools)
    pin_memory(viewer=viewer_of(acme), memory_id=memory.pk, pinned=True)
    archive_memory(viewer=viewer_of(acme), memory_id=memory.pk)

    restore_memory(viewer=viewer_of(acme), memory_id=memory.pk, tools=tools)

    assert (now_is(memory).status, now_is(memory).is_pinned) == ("active", True)


def test_its_disputes_end_and_the_other_side_stands(acme: Cast) -> None:
    pair = two(acme.team)

    archive_memory(viewer=viewer_of(acme), memory_id=pair.memory_a_id)

    pair.refresh_from_db()
    assert (pair.resolution, pair.resolution_note) == ("b_wins", "the other side was archived")
    assert pair.memory_b is not None
    assert now_is(pair.memory_b).status == "active"
    assert not Contradiction.objects.filter(resolved_at=None).exists()


def test_what_is_not_live_or_not_seen_cannot_be_archived(acme: Cast, tools: Tools) -> None:
    memory = stored(acme, tools)
    Memory.objects.filter(pk=memory.pk).update(status="superseded")

    with pytest.raises(ConflictError):
        archive_memory(viewer=viewer_of(acme), memory_id=memory.pk)
    with pytest.raises(NotFoundError):
        archive_memory(viewer=viewer_of(acme), memory_id=acme.team.id)
