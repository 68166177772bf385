"""What the searches of memories and of messages have in common: limits, and the rarity of terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory.domain.retrieval.surroundings import REACH

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
}
# A term that more than this share of the entries holds says nothing and costs time; but among few
# entries every term is looked up.
FREQUENT_SHARE = 0.05
FREQUENT_FROM = 1_000
FREQUENT_AT_MOST = 3_000
# So many of a row's first columns are about the question.
QUESTION_COLUMNS = 4


def most_of_a_term(total: int) -> int:
    """From how many of `total` entries on a term counts as frequent."""
    return min(max(FREQUENT_FROM, int(total * FREQUENT_SHARE)), FREQUENT_AT_MOST)


@dataclass(frozen=True, slots=True)
class Holding:
    """How many entries hold each term, as the first row of an answer says.

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
        """What the rows say of the terms; an empty term is a frequent one that was left out."""
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
