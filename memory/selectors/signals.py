"""The five signals of seed 000 for what a viewer may see, in one statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.domain.viewer import Viewer
from memory.models.memory import LIVE
from memory.selectors.prepared import fetch_planned
from memory.selectors.signal_statement import NOWHERE, SEMANTIC_LIMIT, Shape, signal_statement
from memory.selectors.vectors import VectorSearch

# A term that more than this share of the memories holds says nothing and costs time; but among
# few memories every term is looked up.
FREQUENT_SHARE = 0.1
FREQUENT_FROM = 1_000
FREQUENT_AT_MOST = 3_000

_NOBODY = "nobody"
# The first columns tell of the question, the same in each row.
_REPEATED = 4


@dataclass(frozen=True, slots=True)
class SignalRow:
    """What the database found of one candidate: what scores it, and what a prompt shows of it.

    `cosine` is None without a vector, `terms` are the numbers (from 0) of the question's terms
    that it holds, `position` is that of its first source message in its conversation. `accessed`,
    `said`, `held_from` and `held_until` are seconds of the epoch.
    """

    memory_id: UUID
    memory_type: str
    status: str
    importance: int
    is_pinned: bool
    accessed: float
    conversation_id: UUID | None
    position: int | None
    said: float
    held_from: float | None
    held_until: float | None
    people: list[str]
    terms: list[int]
    cosine: float | None
    relation: float | None
    end_user_id: UUID | None
    project_id: UUID | None
    content: str
    subject: str
    category: str
    scope: str
    tags: list[str]
    contradicts: list[UUID]
    confidence: float
    succeeded: int
    failed: int

    @property
    def created_at(self) -> datetime:
        """When it was said, in UTC."""
        return datetime.fromtimestamp(self.said, UTC)

    @property
    def at(self) -> datetime:
        """When it happened, or else was said, in UTC."""
        return datetime.fromtimestamp(self.held_from or self.said, UTC)

    @property
    def is_live(self) -> bool:
        """Whether readers see it by default."""
        return self.status in LIVE


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates of a question, and how rare its terms are among `total` memories.

    `holding` says of each term how many memories hold it; a term that too many hold counts as
    held by all and is in no candidate's `terms`. `without_lexeme` are the numbers of terms that
    the database knows for too common to be a word to search for.
    """

    rows: list[SignalRow]
    total: int
    holding: tuple[int, ...]
    without_lexeme: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Sought:
    """What candidates are looked for.

    `vector` is a unit vector, or zeros where words alone decide. `only` narrows the search to
    those memories, in whatever tier; `with_cold` adds what is cold or past.
    """

    terms: Sequence[str]
    vector: NDArray[np.float32]
    embedding_model: str
    conversation_id: UUID | None = None
    only: Sequence[UUID] | None = None
    with_cold: bool = False


def find_candidates(*, viewer: Viewer, sought: Sought) -> Found:
    """The candidates among what the viewer may see, with all their signals; call it in scope.

    Each signal proposes its best; every signal is then read for every proposed memory, so the
    outcome does not depend on which signal found it.
    """
    shape = Shape(
        of_agent=viewer.agent_id is not None,
        of_user=viewer.end_user_id is not None,
        of_project=viewer.project_id is not None,
        is_narrowed=sought.only is not None,
        with_cold=sought.with_cold,
    )
    search = VectorSearch(
        team_id=viewer.team_id,
        condition=shape.condition,
        parameters=_parameters(viewer, sought),
        vector=sought.vector,
        embedding_model=sought.embedding_model,
        limit=SEMANTIC_LIMIT,
        is_exact=sought.only is not None,
    )
    total = len(sought.only) if sought.only is not None else search.total()
    most = min(max(FREQUENT_FROM, int(total * FREQUENT_SHARE)), FREQUENT_AT_MOST)
    near = search.statement() if sought.vector.any() else NOWHERE
    statement = signal_statement(shape, near)
    parameters = {
        **search.all_parameters(),
        # No entry is of no model: without a vector there is no cosine to read.
        "model": sought.embedding_model if sought.vector.any() else None,
        "owners": [""] if viewer.end_user_id is None else [str(viewer.end_user_id), _NOBODY],
        "with_cold": sought.with_cold or sought.only is not None,
        "terms": list(sought.terms),
        "most": most,
        "categories": ["", *viewer.allowed_categories] if viewer.allowed_categories else [],
        "total": total,
        "conversation": sought.conversation_id,
    }
    # Planning the statement takes longer than running it: it is prepared and planned once, except
    # where a plan for every team would miss the approximate index or search a long list row by row.
    is_planned_once = search.graph() is None and sought.only is None
    rows = fetch_planned(statement, parameters, once=is_planned_once)
    return Found(
        rows=[SignalRow(*each[_REPEATED:]) for each in rows],
        total=total,
        holding=holding_of(rows, terms=len(sought.terms), total=total),
        without_lexeme=frozenset(each - 1 for each in (rows[0][_REPEATED - 1] or ()))
        if rows
        else frozenset(),
    )


def _parameters(viewer: Viewer, sought: Sought) -> Mapping[str, Any]:  # Any: see VectorSearch
    given = {
        "agent": viewer.agent_id,
        "end_user": viewer.end_user_id,
        "project": viewer.project_id,
        "only": None if sought.only is None else list(sought.only),
    }
    return {name: value for name, value in given.items() if value is not None}


def holding_of(rows: Sequence[tuple[Any, ...]], *, terms: int, total: int) -> tuple[int, ...]:
    """How many memories hold each term, from what every row repeats: counted terms and counts."""
    if not rows:
        return (0,) * terms
    numbers, counts, looked_up, _ = rows[0][:_REPEATED]
    counted = dict(zip(numbers or (), counts or (), strict=True))
    frequent = set(looked_up or ()) - counted.keys()
    return tuple(
        total if number in frequent else counted.get(number, 0) for number in range(1, terms + 1)
    )
