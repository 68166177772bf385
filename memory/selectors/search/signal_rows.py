"""Search queries and the rows that they find: memories and messages with their signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.domain.retrieval.fusion import REACH, evidence_of
from memory.domain.types import UNCONFIRMED, MemoryType, Role
from memory.models.memory import LIVE
from teams.prepared import Uuids

# Nobody rated a message; it counts as the least that extraction gives to what is worth keeping.
MESSAGE_IMPORTANCE = 3
# How many each signal proposes (seed 000, step 3, and measured on conversations). From
# IMPORTANT_FROM on a memory is proposed for its importance.
LIMITS = {
    "NEAR_LIMIT": 100,
    "LEXICAL_LIMIT": 100,
    "CORE_LIMIT": 30,
    "NEIGHBOURS_LIMIT": 20,
    "REACH": REACH,
    "RECENCY_LIMIT": 30,
    "IMPORTANCE_LIMIT": 30,
    "IMPORTANT_FROM": 7,
    "MANDATORY_LIMIT": 1000,
    "CONTINUITY_LIMIT": 20,
    "RELATION_LIMIT": 20,
    "PROJECT_LIMIT": 60,
}
# A term that more than this share of the entries holds says nothing and costs time; but among few
# entries every term is looked up.
FREQUENT_SHARE = 0.05
FREQUENT_FROM = 1_000
FREQUENT_AT_MOST = 3_000
# So many of a row's first columns are about the question.
QUESTION_COLUMNS = 4


class SignalRow(NamedTuple):
    """A memory that was found: its signals, and what a prompt shows of it.

    `cosine` is None without a vector, `terms` has a bit for each of the question's terms that it
    holds, `people` are the words of the names of those whom it is by or about, `position` is that
    of its first source message in its conversation, `relation` the strength of its edge to what was
    found. `accessed`, `said`, `held_from` and `held_until` are seconds of the epoch. A tuple, as
    there are hundreds for each question.
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
    cited: int
    ignored: int
    form: str
    source: str

    @property
    def is_unconfirmed(self) -> bool:
        return self.source in UNCONFIRMED

    @property
    def created_at(self) -> datetime:
        return datetime.fromtimestamp(self.said, UTC)

    @property
    def is_live(self) -> bool:
        return self.status in LIVE

    @property
    def is_private(self) -> bool:
        """Returns whether the memory's person told it to its agent in confidence."""
        return self.memory_type == MemoryType.AGENT_PRIVATE and self.end_user_id is not None

    @property
    def evidence(self) -> float:
        """Its worth as evidence, 0-1."""
        return 1.0


class _MessageColumns(NamedTuple):
    message_id: UUID
    conversation_id: UUID
    position: int
    role: str
    said_at: datetime
    said: float
    people: str = ""
    terms: int = 0
    cosine: float | None = None
    words: int = 0
    is_private: bool = False


class MessageRow(_MessageColumns):
    """A message that was found; the names are those of `SignalRow`.

    `words` is its number of different words to look for; `is_private` if it was told to its agent
    in confidence.
    """

    __slots__ = ()

    # What memories have and messages have not.
    memory_type = ""
    status = ""
    importance = MESSAGE_IMPORTANCE
    is_pinned = False
    held_from = None
    held_until = None
    relation = None
    memory_id = None
    cited = 0
    ignored = 0
    form = ""
    # What tools and pages say has no entry.
    is_unconfirmed = False

    @property
    def accessed(self) -> float:
        """The time it was said: reading a message leaves no mark on it."""
        return self.said

    @property
    def evidence(self) -> float:
        """Its worth as evidence, 0-1."""
        return evidence_of(words=self.words, is_of_agent=self.role == Role.ASSISTANT)


CandidateRow = SignalRow | MessageRow
Row = TypeVar("Row", SignalRow, MessageRow, CandidateRow, covariant=True)


@dataclass(frozen=True, slots=True)
class Pool(Generic[Row]):
    """Candidates that are scored together, and how rare the question's terms are around them.

    They were found among `total` rows. `holding` counts the rows that hold each term; a term that
    too many hold counts as held by all and is in no candidate's `terms`. `without_lexeme` are the
    numbers of terms that are too common to be words to search for.
    """

    rows: Sequence[Row]
    total: int
    holding: tuple[int, ...]
    without_lexeme: frozenset[int] = frozenset()


Found = Pool[SignalRow]
FoundMessages = Pool[MessageRow]
NO_MESSAGES: FoundMessages = Pool((), 0, ())


def joined(memories: Found, messages: FoundMessages) -> Pool[CandidateRow]:
    """Returns both as one pool, the memories first: rarity counts over all of them."""
    if not (memories.rows and messages.rows):
        found: Pool[CandidateRow] = messages if messages.rows else memories
        return found
    return Pool(
        rows=[*memories.rows, *messages.rows],
        total=memories.total + messages.total,
        holding=tuple(map(sum, zip(memories.holding, messages.holding, strict=True))),
        without_lexeme=memories.without_lexeme | messages.without_lexeme,
    )


@dataclass(frozen=True, slots=True)
class Sought:
    """A search for candidates.

    `vector` is a unit vector, or zeros if words alone decide. `only` narrows the search to those
    memories, in whatever tier, of which at least `least` are candidates, however far from the
    question; `with_cold` adds cold and past ones, `with_project` the most important of the viewer's
    project. The memories in `also` are candidates whatever the signals propose.
    """

    terms: Sequence[str]
    vector: NDArray[np.float32]
    embedding_model: str
    conversation_id: UUID | None = None
    only: Uuids | None = None
    with_cold: bool = False
    least: int = 0
    with_project: bool = False
    also: Sequence[UUID] = ()

    @property
    def has_vector(self) -> bool:
        return bool(self.vector.any())


def most_of_a_term(total: int) -> int:
    """Returns from how many of `total` entries on a term counts as frequent."""
    return min(max(FREQUENT_FROM, int(total * FREQUENT_SHARE)), FREQUENT_AT_MOST)


@dataclass(frozen=True, slots=True)
class Holding:
    """The number of entries that hold each term, as the first row of an answer says.

    A term that too many hold (`frequent`, by number from 0) counts as held by all. `without_lexeme`
    are the numbers of those that are no words. `only_frequent` says that nothing else was found.
    """

    counts: tuple[int, ...]
    frequent: frozenset[int]
    without_lexeme: frozenset[int]
    only_frequent: bool

    @classmethod
    def of(
        cls,
        rows: Sequence[tuple[Any, ...]],  # Any: columns of each type
        *,
        terms: Sequence[str],
        total: int,
        most: int,
    ) -> Holding:
        """Returns the holding in the rows; an empty term is a frequent one that was left out."""
        columns = rows[0][:QUESTION_COLUMNS] if rows else (None,) * QUESTION_COLUMNS
        numbers, counts, looked_up, no_words = (each or () for each in columns)
        counted = {number - 1: seen for number, seen in zip(numbers, counts, strict=True)}
        skipped = {number for number, term in enumerate(terms) if not term}
        frequent = frozenset(number - 1 for number in looked_up) - counted.keys() | skipped
        return cls(
            counts=tuple(
                total if number in frequent else counted.get(number, 0)
                for number in range(len(terms))
            ),
            frequent=frequent,
            without_lexeme=frozenset(number - 1 for number in no_words) - skipped,
            only_frequent=bool(counted) and min(counted.values()) >= most,
        )
