"""Memories written as the team, through the write path."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from memory.domain.audience import Viewer
from memory.domain.types import MemoryType
from memory.models import Memory
from memory.understanding.tools import Tools
from memory.writing.drafts import MemoryDraft, WriteResult
from memory.writing.write_path import EMBEDDED_AT_ONCE, write_memories
from teams.tenancy import team_scope
from tests.support.cast import Cast

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
OLD_LIMIT = "The API limit is 100 requests per minute."
NEW_LIMIT = "The API limit is now 500 requests per minute."
OTHER_LIMIT = "The API limit is 500 requests per minute."


def draft(cast: Cast, content: str, **fields: Any) -> MemoryDraft:
    """A draft of the team with what a test cares about."""
    values: dict[str, Any] = {
        "memory_type": MemoryType.SEMANTIC,
        "importance": 5,
        "extractor": "test",
        "created_at": NOON,
        **fields,
    }
    return MemoryDraft(team_id=cast.team.id, content=content, **values)


def write(cast: Cast, tools: Tools, *drafts: MemoryDraft) -> list[WriteResult]:
    """Write as the team."""
    viewer = Viewer(team_id=cast.team.id, actor="test")
    return write_memories(viewer=viewer, drafts=drafts, tools=tools)


def live(cast: Cast) -> list[str]:
    """The texts of the live memories, oldest first."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return list(Memory.objects.live().order_by("id").values_list("content", flat=True))


def store(cast: Cast, tools: Tools, *contents: str, **fields: Any) -> list[Memory]:
    """Memories stored as given, unchecked, each with its vector."""
    drafts = [draft(cast, content, **{"check": False, **fields}) for content in contents]
    parts = [
        drafts[start : start + EMBEDDED_AT_ONCE]
        for start in range(0, len(drafts), EMBEDDED_AT_ONCE)
    ]
    return [each.memory for part in parts for each in write(cast, tools, *part)]
