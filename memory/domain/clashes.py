"""Facts that contradict each other, and which of them is told (seed 001)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from memory.domain.categories import plain_category
from memory.domain.types import MemoryType, Scope

PREFERENCES, CONSTRAINTS = "preferences", "constraint"
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
    """The reason for leaving a fact out."""

    OTHER_SCOPE = "other_scope"
    CATEGORY = "category"
    CONFIDENCE = "confidence"
    STALE = "stale"
    UNCONFIRMED = "unconfirmed"
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
    `is_unconfirmed` is never told. What `needs_naming` is told only where its category is named.
    What `is_of_person` counts as profile, whatever its category; a preference that is not
    `is_fitting` is about another matter.
    """

    key: UUID
    scope: Scope | None
    category: str
    confidence: float
    at: datetime
    score: float = 0.0
    is_stale: bool = False
    is_unconfirmed: bool = False
    needs_naming: bool = False
    is_fitting: bool = True
    is_of_person: bool = False
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
    """Returns whether `among` has the category, ignoring number, case and separators."""
    name = plain_category(category)
    if any(plain_category(each) == name for each in among):
        return True
    return EVERY_CATEGORY in among and not needs_naming and name != plain_category(PREFERENCES)


Pairs = Collection[frozenset[UUID]]


class Resolution(StrEnum):
    """The reason that a side of a conflict was preferred, or that both were flagged."""

    HIGHER_CONFIDENCE = "higher_confidence"
    NEWER = "newer"
    BOTH_FLAGGED = "both_flagged"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Facts on one matter that cannot all hold, best first.

    `standing` are those that the rule prefers: several where they do not contradict each other, or
    where nothing says which of them holds.
    """

    keys: tuple[UUID, ...]
    standing: tuple[UUID, ...]
    resolution: Resolution
    reason: str


@dataclass(frozen=True, slots=True)
class Resolved:
    """The outcome of the conflicts among some facts.

    `losers` have the fact that each lost to, and why; `rivals` are of each flagged fact those that
    it contradicts.
    """

    standing: tuple[Fact, ...]
    losers: Mapping[UUID, tuple[UUID, str]]
    rivals: Mapping[UUID, tuple[UUID, ...]]
    conflicts: tuple[Conflict, ...]


def prefer(one: Fact, other: Fact) -> Resolution:
    """Returns the reason to prefer `one`, which comes before `other` in `best_first`."""
    if one.confidence > other.confidence:
        return Resolution.HIGHER_CONFIDENCE
    return Resolution.NEWER if one.at > other.at else Resolution.BOTH_FLAGGED


def best_first(facts: Sequence[Fact]) -> list[Fact]:
    """By confidence, then the newest, then by what says most about the request."""
    return sorted(
        facts,
        key=lambda fact: (-fact.confidence, -fact.at.timestamp(), -fact.score, fact.key.int),
    )


def resolve_conflicts(facts: Sequence[Fact], pairs: Pairs, *, disputed: Pairs = ()) -> Resolved:
    """Resolves the conflicts among facts of which these pairs contradict each other.

    No two facts that stand contradict each other, except where confidence and time are equal, and
    the two sides of an open dispute, `disputed` among the pairs: those are flagged. Every fact that
    lost did so to one that stands.
    """
    against = _against(facts, pairs)
    standing: dict[UUID, Fact] = {}
    losers: dict[UUID, tuple[UUID, str]] = {}
    rivals: dict[UUID, list[UUID]] = defaultdict(list)
    for fact in best_first(facts):
        others = [standing[key] for key in against.get(fact.key, ()) if key in standing]
        better = [
            other
            for other in others
            if frozenset((other.key, fact.key)) not in disputed
            and prefer(other, fact) != Resolution.BOTH_FLAGGED
        ]
        if better:
            losers[fact.key] = (better[0].key, _why(better[0], fact))
            continue
        standing[fact.key] = fact
        for other in others:
            rivals[fact.key].append(other.key)
            rivals[other.key].append(fact.key)
    return Resolved(
        standing=tuple(fact for fact in facts if fact.key in standing),
        losers=losers,
        rivals={key: tuple(others) for key, others in rivals.items()},
        conflicts=tuple(
            _conflict(group, standing, rivals) for group in _groups(best_first(facts), against)
        ),
    )


def _against(facts: Sequence[Fact], pairs: Pairs) -> dict[UUID, list[UUID]]:
    known = {fact.key for fact in facts}
    found: dict[UUID, list[UUID]] = defaultdict(list)
    for one, other in (sorted(pair) for pair in pairs if len(pair) == 2 and pair <= known):
        found[one].append(other)
        found[other].append(one)
    return found


def _groups(facts: Sequence[Fact], against: Mapping[UUID, Sequence[UUID]]) -> list[list[Fact]]:
    group_of: dict[UUID, int] = {}
    for fact in facts:
        reached = [fact.key] if fact.key in against and fact.key not in group_of else []
        number = len(group_of)
        while reached:
            key = reached.pop()
            if key not in group_of:
                group_of[key] = number
                reached += against[key]
    groups: dict[int, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.key in group_of:
            groups[group_of[fact.key]].append(fact)
    return list(groups.values())


def _conflict(
    group: Sequence[Fact], standing: Mapping[UUID, Fact], rivals: Mapping[UUID, Sequence[UUID]]
) -> Conflict:
    keys = tuple(fact.key for fact in group)
    stand = tuple(key for key in keys if key in standing)
    if any(key in rivals for key in stand):
        resolution = Resolution.BOTH_FLAGGED
        reason = "the dispute is open, or confidence and time are equal: a person decides"
    else:
        lost = next(fact for fact in group if fact.key not in standing)
        resolution = prefer(group[0], lost)
        reason = _why(group[0], lost)
    return Conflict(keys, stand, resolution, reason)


def _why(one: Fact, other: Fact) -> str:
    if one.confidence > other.confidence:
        return f"confidence {one.confidence:.2g} is higher than {other.confidence:.2g}"
    return f"confidence is equal, and {one.at:%Y-%m-%d %H:%M} is newer than" + (
        f" {other.at:%Y-%m-%d %H:%M}"
    )
