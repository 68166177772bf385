"""What is chosen from, by which rules, and what came of it (seed 001, "Memory Selection Rules")."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from memory.domain.categories import plain_category
from memory.domain.types import MemoryType, Scope

PREFERENCES = "preferences"
# In a list of categories: all of them but preferences and how something is done, which are told
# only where they are named.
EVERY_CATEGORY = "*"
_OF_TYPE = {
    MemoryType.USER_PROFILE: "profile",
    MemoryType.INSIGHT: "profile",
    MemoryType.EPISODIC: "event",
    MemoryType.PROCEDURAL: "procedure",
    MemoryType.IDENTITY: "identity",
}
_FACT = "technical_fact"


class Cause(StrEnum):
    """Why a fact is left out."""

    OTHER_SCOPE = "other_scope"
    CATEGORY = "category"
    CONFIDENCE = "confidence"
    STALE = "stale"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"
    ENOUGH = "enough"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class Fact:
    """A memory that may be told.

    `scope` is where it counts, None for what is of another session, project or person than the
    request. `says` is equal for what says the same, `at` is since when it stands, `chars` the
    length of its line. Of a stale one something else took the place, or its time is over. What
    `needs_naming` is told only where its category is named.
    """

    key: UUID
    scope: Scope | None
    category: str
    confidence: float
    at: datetime
    score: float = 0.0
    is_stale: bool = False
    needs_naming: bool = False
    says: Hashable = None
    chars: int = 0


@dataclass(frozen=True, slots=True)
class Rules:
    """By what is chosen; `categories` are those that are relevant to the request.

    `scopes` are asked in order until there are `enough_facts` facts or `enough_chars` characters.
    """

    categories: tuple[str, ...]
    threshold: float
    scopes: tuple[Scope, ...]
    enough_facts: int
    enough_chars: int
    resolves_conflicts: bool = True


@dataclass(frozen=True, slots=True)
class Kept:
    """A fact that is told, and why; `rivals` are what it contradicts while nothing says which."""

    fact: Fact
    reason: str
    rivals: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A fact that is not told, and why."""

    key: UUID
    cause: Cause
    reason: str


def category_of(*, category: str, memory_type: MemoryType, subject: str) -> str:
    """The category of a memory: its own, else what its subject and its type say."""
    if category:
        return category
    if subject.startswith("user.preference"):
        return PREFERENCES
    return _OF_TYPE.get(memory_type, _FACT)


def is_relevant(category: str, *, among: Collection[str], needs_naming: bool = False) -> bool:
    """Whether the categories hold this one; number, case and separators make no difference."""
    name = plain_category(category)
    if any(plain_category(each) == name for each in among):
        return True
    return EVERY_CATEGORY in among and not needs_naming and name != plain_category(PREFERENCES)
