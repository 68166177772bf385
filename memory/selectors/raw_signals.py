"""The messages that may answer a question, among those a viewer may see, in one statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from pgvector import HalfVector

from memory.domain.viewer import Viewer
from memory.selectors.prepared import fetch_planned
from memory.selectors.raw_statement import RawShape
from memory.selectors.signals import (
    FREQUENT_AT_MOST,
    FREQUENT_FROM,
    FREQUENT_SHARE,
    Sought,
    holding_of,
)
from teams.models import Message

# Nobody rated a message; the least that extraction gives to what it finds worth keeping.
IMPORTANCE = 3
_DOCUMENT = ("personality", "rules", "skills", "model_config", "retrieval_weights")
# The first columns tell of the question, the same in each row.
_REPEATED = 4


@dataclass(frozen=True, slots=True)
class MessageRow:
    """What the database found of one message; the names are those of `SignalRow`."""

    message_id: UUID
    conversation_id: UUID
    position: int
    role: str
    said_at: datetime
    said: float
    people: list[str]
    terms: list[int]
    cosine: float | None

    # What memories have and messages have not, for the scores that both share.
    memory_type: ClassVar[str] = ""
    status: ClassVar[str] = ""
    importance: ClassVar[int] = IMPORTANCE
    is_pinned: ClassVar[bool] = False
    held_from: ClassVar[float | None] = None
    held_until: ClassVar[float | None] = None
    relation: ClassVar[float | None] = None

    @property
    def accessed(self) -> float:
        """When it was said: reading a message leaves no mark on it."""
        return self.said


@dataclass(frozen=True, slots=True)
class FoundMessages:
    """The candidates, and how rare the terms are among `total` messages; as `signals.Found`."""

    rows: list[MessageRow]
    total: int
    holding: tuple[int, ...]
    without_lexeme: frozenset[int] = frozenset()


def find_messages(*, viewer: Viewer, sought: Sought) -> FoundMessages:
    """The candidates among the messages the viewer may see; call it in scope.

    Of an owner with more messages than are searched exactly, words alone propose; the cosine is
    read for all that are proposed.
    """
    shape = RawShape(
        of_agent=viewer.agent_id is not None,
        of_user=viewer.end_user_id is not None,
        of_project=viewer.project_id is not None,
    )
    parameters: dict[str, Any] = {  # Any: a parameter of any type
        **_viewer_parameters(viewer),
        "owners": [str(viewer.end_user_id or "")],
        "terms": list(sought.terms),
        # No entry is of no model: without a vector there is no cosine to read.
        "model": sought.embedding_model if sought.vector.any() else None,
        "vector": HalfVector(sought.vector).to_text(),
        "counted": settings.EXACT_SEARCH_LIMIT + 1,
    }
    ((total,),) = fetch_planned(shape.count(), parameters)
    if not total:
        return FoundMessages([], 0, (0,) * len(sought.terms))
    most = min(max(FREQUENT_FROM, int(total * FREQUENT_SHARE)), FREQUENT_AT_MOST)
    by_vector = bool(sought.vector.any()) and total <= settings.EXACT_SEARCH_LIMIT
    statement = shape.statement(by_vector=by_vector)
    rows = fetch_planned(statement, {**parameters, "total": total, "most": most})
    return FoundMessages(
        rows=[MessageRow(*each[_REPEATED:]) for each in rows],
        total=total,
        holding=holding_of(rows, terms=len(sought.terms), total=total),
        without_lexeme=frozenset(each - 1 for each in (rows[0][_REPEATED - 1] or ()))
        if rows
        else frozenset(),
    )


def messages_with_names(*, ids: Sequence[UUID]) -> dict[UUID, Message]:
    """The messages of ids that were found, with their conversation's agent and end user."""
    # An agent's document is long and says nothing here.
    rows = (
        Message.objects.filter(id__in=ids)
        .select_related("conversation__agent", "conversation__end_user")
        .defer(*(f"conversation__agent__{name}" for name in _DOCUMENT))
    )
    return {row.pk: row for row in rows}


def _viewer_parameters(viewer: Viewer) -> Mapping[str, UUID | None]:
    given = {
        "team": viewer.team_id,
        "agent": viewer.agent_id,
        "end_user": viewer.end_user_id,
        "project": viewer.project_id,
    }
    return {name: value for name, value in given.items() if value is not None}
