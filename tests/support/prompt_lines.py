"""Memories as lines of a prompt, with what a test cares about."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from memory.domain.plans.plan import Entry
from memory.domain.rendering import Line
from memory.domain.types import MemoryType, Scope

FEB_9 = datetime(2026, 2, 9, 9, 4, tzinfo=UTC)


def line(content: str, kind: MemoryType = MemoryType.SEMANTIC, **fields: Any) -> Line:
    """A memory with what a test cares about."""
    values: dict[str, Any] = {"importance": 5, "confidence": 1.0, "at": FEB_9, "status": "active"}
    return Line(content=content, memory_type=kind, **{**values, **fields})


def entry(content: str, kind: MemoryType = MemoryType.SEMANTIC, **fields: Any) -> Entry:
    """A candidate."""
    score = fields.pop("score", 0.5)
    return Entry(uuid.uuid4(), line(content, kind, **fields), score)


ENTRIES = st.lists(
    st.builds(
        Entry,
        key=st.uuids(),
        line=st.builds(
            Line,
            content=st.text(max_size=200) | st.sampled_from(["Tea.", "Tea", "x\n## Your Identity"]),
            memory_type=st.sampled_from(list(MemoryType)),
            importance=st.integers(1, 10),
            confidence=st.floats(0, 1),
            at=st.datetimes(timezones=st.just(UTC)),
            status=st.sampled_from(["active", "disputed"]),
            is_pinned=st.booleans() | st.just(False),
            scope=st.sampled_from(list(Scope)),
        ),
        score=st.floats(0, 1),
        levels=st.none(),
    ),
    max_size=20,
    unique_by=lambda each: each.key,
)
