"""What is searched for, and the rows that were found: memories and messages with their signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.models.memory import LIVE
from teams.prepared import Uuids

# Nobody rated a message; it counts as the least that extraction gives to what is worth keeping.
MESSAGE_IMPORTANCE = 3


class SignalRow(NamedTuple):
    """What the database found of one memory: what scores it, and what a prompt shows of it.

    `cosine` is None without a vector, `terms` has a bit for each of the question's terms that it
    holds, `people` are the words, with spaces between, of the names of whom it is by or about,
    `position` is that of its first source message in its conversation, `relation` the strength of
    its edge to what was found. `accessed`, `said`, `held_from` and `held_until` are seconds of the
    epoch. A tuple, as there are hundreds for each question.
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
    agent_id: UUID | None
    content: str
    subject: str
    category: str
    scope: str
    tags: list[str] | None
    contradicts: list[UUID] | None
    confidence: float
    succeeded: int
    failed: int

    @property
    def created_at(self) -> datetime:
        """When it was said, in UTC."""
        return datetime.fromtimestamp(self.said, UTC)

    @property
    def is_live(self) -> bool:
        """Whether readers see it by default."""
        return self.status in LIVE


class _MessageColumns(NamedTuple):
    message_id: UUID
    conversation_id: UUID
    position: int
    role: str
    said_at: datetime
    said: float
    people: str
    terms: int
    cosine: float | None


class MessageRow(_MessageColumns):
    """What the database found of one message; the names are those of `SignalRow`."""

    __slots__ = ()

    # What memories have and messages have not.
    memory_type = ""
    status = ""
    importance = MESSAGE_IMPORTANCE
    is_pinned = False
    held_from = None
    held_until = None
    relation = None

    @property
    def accessed(self) -> float:
        """When it was said: reading a message leaves no mark on it."""
        return self.said


CandidateRow = SignalRow | MessageRow
Row = TypeVar("Row", SignalRow, MessageRow, CandidateRow, covariant=True)


@dataclass(frozen=True, slots=True)
class Pool(Generic[Row]):
    """Candidates that are scored together, and how rare the question's terms are around them.

    They were found among `total` rows. `holding` says of each term how many of those hold it; a
    term that too many hold counts as held by all and is in no candidate's `terms`.
    `without_lexeme` are the numbers of terms that are too common to be words to search for.
    """

    rows: Sequence[Row]
    total: int
    holding: tuple[int, ...]
    without_lexeme: frozenset[int] = frozenset()


Found = Pool[SignalRow]
FoundMessages = Pool[MessageRow]


def joined(memories: Found, messages: FoundMessages) -> Pool[CandidateRow]:
    """Both as one pool, the memories first: rarity counts over all of them."""
    return Pool(
        rows=[*memories.rows, *messages.rows],
        total=memories.total + messages.total,
        holding=tuple(map(sum, zip(memories.holding, messages.holding, strict=True))),
        without_lexeme=memories.without_lexeme | messages.without_lexeme,
    )


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
    only: Uuids | None = None
    with_cold: bool = False
    least: int = 0

    @property
    def has_vector(self) -> bool:
        """Whether meaning has a part in the search."""
        return bool(self.vector.any())
