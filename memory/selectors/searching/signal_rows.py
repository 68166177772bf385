"""What is looked for, and what was found: candidates with all that scores and shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.domain.retrieval.sketch import Ids
from memory.models.memory import LIVE
from memory.selectors.known_rows import Version


class SignalRow(NamedTuple):
    """What the database found of one candidate: what scores it, and what a prompt shows of it.

    `cosine` is None without a vector, `terms` has a bit for each of the question's terms that it
    holds, `people` are words with spaces between, `position` is that of its first source message in
    its conversation. `accessed`, `said`, `held_from` and `held_until` are seconds of the epoch.
    The last four are `version`. A tuple, as there are hundreds for each question.
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
    people: str
    terms: int
    cosine: float | None
    relation: float | None
    end_user_id: UUID | None
    project_id: UUID | None
    content: str
    subject: str
    category: str
    scope: str
    tags: list[str] | None
    contradicts: list[UUID] | None
    confidence: float
    succeeded: int
    failed: int
    memory_xmin: bytes
    memory_ctid: bytes
    usage_xmin: bytes | None
    usage_ctid: bytes | None

    @property
    def version(self) -> Version:
        """Which versions of the memory's row and of its usage's were read, as PostgreSQL tells."""
        return self[-4:]

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
    those memories, in whatever tier, of which at least `least` are candidates, however far from
    the question; `with_cold` adds what is cold or past.
    """

    terms: Sequence[str]
    vector: NDArray[np.float32]
    embedding_model: str
    conversation_id: UUID | None = None
    only: Ids | None = None
    with_cold: bool = False
    least: int = 0
