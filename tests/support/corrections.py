"""A memory to be corrected or judged, for tests, and who does it."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.domain.judgements import Feedback
from memory.models import Memory
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import correct_memory, give_feedback
from memory.writing.drafts import WriteResult
from tests.support.cast import Cast, make_cast
from tests.support.writing import draft, write

BERLIN = "Sarah lives in Berlin."
POTSDAM = "Sarah lives in Potsdam."


def stored(cast: Cast, tools: Tools, content: str = BERLIN, **fields: Any) -> Memory:
    """One memory that the team wrote."""
    return write(cast, tools, draft(cast, content, **fields))[0].memory


def correct(
    cast: Cast, tools: Tools, memory: Memory, content: str = POTSDAM, *, reason: str = ""
) -> WriteResult:
    """Correct as the team."""
    return correct_memory(
        viewer=Viewer(team_id=cast.team.id, actor="reviewer"),
        memory_id=memory.pk,
        corrected_content=content,
        reason=reason,
        tools=tools,
        now=timezone.now(),
    )


def say_of(cast: Cast, memory: Memory, signal: Feedback, note: str = "") -> Memory:
    """Give feedback as the team."""
    return give_feedback(viewer=team_of(cast), memory_id=memory.pk, signal=signal, note=note)


def team_of(cast: Cast) -> Viewer:
    """The team itself."""
    return Viewer(team_id=cast.team.id, actor="reader")


def now_is(memory: Memory) -> Memory:
    """The memory as the database has it."""
    return Memory.objects.get(pk=memory.pk)


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A team that several connections may write to."""
    return make_cast(f"town-{uuid4().hex}")
