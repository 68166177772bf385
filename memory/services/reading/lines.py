"""Candidates as lines of a prompt, which a process keeps: questions find nearly the same ones."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache

from memory.domain.rendering import Line, Opposite
from memory.domain.types import MemoryType, Scope
from memory.selectors.searching.signal_rows import SignalRow

_TYPES = {kind.value: kind for kind in MemoryType}
# What is longer would fill too much of a process.
_SHORT = 2_000
_SCOPES = {scope.value: scope for scope in Scope}


def line_of(row: SignalRow, opposites: tuple[Opposite, ...]) -> Line:
    """The line of a candidate, with the texts that it contradicts."""
    plain_line = _plain_line if len(row.content) <= _SHORT else _plain_line.__wrapped__
    line = plain_line(
        row.content,
        row.memory_type,
        row.importance,
        row.confidence,
        row.held_from or row.said,
        row.status,
        row.category,
        row.subject,
        row.succeeded,
        row.failed,
        row.is_pinned,
        row.scope,
    )
    return replace(line, opposites=opposites) if opposites else line


# The questions of one conversation find nearly the same memories.
@lru_cache(maxsize=4_096)
def _plain_line(
    content: str,
    memory_type: str,
    importance: int,
    confidence: float,
    at: float,
    status: str,
    category: str,
    subject: str,
    succeeded: int,
    failed: int,
    is_pinned: bool,
    scope: str,
) -> Line:
    """The line of a memory that nothing contradicts; `at` in seconds of the epoch."""
    return Line(
        content=content,
        memory_type=_TYPES[memory_type],
        importance=importance,
        confidence=confidence,
        at=datetime.fromtimestamp(at, UTC),
        status=status,
        category=category,
        subject=subject,
        succeeded=succeeded,
        failed=failed,
        is_pinned=is_pinned,
        scope=_SCOPES[scope],
    )
