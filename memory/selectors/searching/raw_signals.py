"""The messages that may answer a question, among those a viewer may see, in one statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings

from memory.domain.viewer import Viewer
from memory.selectors.conditions import viewer_parameters
from memory.selectors.known import Known
from memory.selectors.prepared import fetch_planned
from memory.selectors.revisions import Revision
from memory.selectors.searching.raw_statement import RawShape
from memory.selectors.searching.search_statement import QUESTION_COLUMNS, Holding, most_of_a_term
from memory.selectors.searching.signal_rows import Sought

# Nobody rated a message; the least that extraction gives to what it finds worth keeping.
IMPORTANCE = 3
_totals = Known()


class _Columns(NamedTuple):
    message_id: UUID
    conversation_id: UUID
    position: int
    role: str
    said_at: datetime
    said: float
    people: str
    terms: int
    cosine: float | None


class MessageRow(_Columns):
    """What the database found of one message; the names are those of `SignalRow`."""

    __slots__ = ()

    # What memories have and messages have not, for the scores that both share.
    memory_type = ""
    status = ""
    importance = IMPORTANCE
    is_pinned = False
    held_from = None
    held_until = None
    relation = None

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


def find_messages(
    *, viewer: Viewer, sought: Sought, revision: Revision | None = None
) -> FoundMessages:
    """The candidates among the messages the viewer may see; call it in scope.

    Of an owner with more messages than are searched exactly, words alone propose; the cosine is
    read for all that are proposed. `revision` is the team's in this transaction: while it stands a
    process remembers how many messages there are.
    """
    shape = RawShape(
        of_agent=viewer.agent_id is not None,
        of_user=viewer.end_user_id is not None,
        of_project=viewer.project_id is not None,
    )
    has_vector = bool(sought.vector.any())
    parameters: dict[str, Any] = {  # Any: a parameter of any type
        "agent": None,
        "project": None,
        **viewer_parameters(viewer),
        "owners": [str(viewer.end_user_id or "")],
        "terms": list(sought.terms),
        # No entry is of no model: without a vector there is no cosine to read.
        "model": sought.embedding_model if has_vector else None,
        "vector": sought.vector,
        "counted": settings.EXACT_SEARCH_LIMIT + 1,
    }
    total = _total(viewer, shape, parameters, revision)
    if not total:
        return FoundMessages([], 0, (0,) * len(sought.terms))
    by_vector = has_vector and total <= settings.EXACT_SEARCH_LIMIT
    statement = shape.statement(by_vector=by_vector)
    most = most_of_a_term(total)
    rows = fetch_planned(statement, {**parameters, "total": total, "most": most})
    holding = Holding.of(rows, terms=sought.terms, total=total, most=most)
    return FoundMessages(
        rows=[MessageRow._make(each[QUESTION_COLUMNS:]) for each in rows],
        total=total,
        holding=holding.counts,
        without_lexeme=holding.without_lexeme,
    )


def _total(
    viewer: Viewer,
    shape: RawShape,
    parameters: Mapping[str, Any],  # Any: a parameter of any type
    revision: Revision | None,
) -> int:
    owner = (viewer.team_id, viewer.agent_id, viewer.end_user_id, viewer.project_id)
    counted = parameters["counted"]
    known = _totals.get(owner)
    if revision is not None and known is not None and known[0] == (revision.messages, counted):
        return int(known[1])
    ((total,),) = fetch_planned(shape.count(), parameters)
    if revision is not None:
        _totals.put(owner, ((revision.messages, counted), total))
    return int(total)
