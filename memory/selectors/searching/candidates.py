"""What ranking reads of a candidate, be it a memory or a message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID


class CandidateRow(Protocol):
    """The columns of `SignalRow` that scores are made of."""

    @property
    def memory_type(self) -> str:
        """The memory's type."""
        ...

    @property
    def status(self) -> str:
        """The memory's status."""
        ...

    @property
    def importance(self) -> int:
        """1-10."""
        ...

    @property
    def is_pinned(self) -> bool:
        """Whether it must always be told."""
        ...

    @property
    def accessed(self) -> float:
        """When it was last read, in seconds of the epoch."""
        ...

    @property
    def conversation_id(self) -> UUID | None:
        """Where it was said."""
        ...

    @property
    def position(self) -> int | None:
        """Its place there."""
        ...

    @property
    def said(self) -> float:
        """When, in seconds of the epoch."""
        ...

    @property
    def held_from(self) -> float | None:
        """Since when it holds, likewise."""
        ...

    @property
    def held_until(self) -> float | None:
        """Until when it holds, likewise."""
        ...

    @property
    def people(self) -> str:
        """The words, with spaces between, of the names of whom it is by or about."""
        ...

    @property
    def terms(self) -> int:
        """Which of the question's terms it holds, a bit for each."""
        ...

    @property
    def cosine(self) -> float | None:
        """How near its meaning is."""
        ...

    @property
    def relation(self) -> float | None:
        """The strength of its edge to what was found, 0-1."""
        ...


class Pool(Protocol):
    """Candidates that are scored together, and how rare the question's terms are around them."""

    @property
    def rows(self) -> Sequence[CandidateRow]:
        """The candidates."""
        ...

    @property
    def total(self) -> int:
        """Among how many they were found."""
        ...

    @property
    def holding(self) -> tuple[int, ...]:
        """How many of those hold each term."""
        ...

    @property
    def without_lexeme(self) -> frozenset[int]:
        """The terms that are no words to search for."""
        ...


@dataclass(frozen=True, slots=True)
class JoinedPool:
    """Several pools as one: rarity counts over all of them, and rows stand in the given order."""

    rows: Sequence[CandidateRow]
    total: int
    holding: tuple[int, ...]
    without_lexeme: frozenset[int]

    @classmethod
    def of(cls, *pools: Pool) -> JoinedPool:
        """The pools in their order."""
        return cls(
            rows=[row for pool in pools for row in pool.rows],
            total=sum(pool.total for pool in pools),
            holding=tuple(map(sum, zip(*(pool.holding for pool in pools), strict=True))),
            without_lexeme=frozenset().union(*(pool.without_lexeme for pool in pools)),
        )
