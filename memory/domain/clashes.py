"""Facts that contradict each other: higher confidence, then newer, else both with a flag.

Seed 001, "Conflict Resolution". Where neither says more, the seed tells both with a flag, and also
never tells a conflict whose resolution is unclear; both hold where such facts are told together and
flagged, or not at all (decision record 41).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from memory.domain.facts import Fact

Pairs = Collection[frozenset[UUID]]


class Resolution(StrEnum):
    """What speaks for one side."""

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
    """What stands after the conflicts among some facts.

    `losers` have the fact that each lost to, and why; `rivals` are of each flagged fact those that
    it contradicts.
    """

    standing: tuple[Fact, ...]
    losers: Mapping[UUID, tuple[UUID, str]]
    rivals: Mapping[UUID, tuple[UUID, ...]]
    conflicts: tuple[Conflict, ...]


def prefer(one: Fact, other: Fact) -> Resolution:
    """What speaks for `one`, which comes before `other` in `best_first`."""
    if one.confidence > other.confidence:
        return Resolution.HIGHER_CONFIDENCE
    return Resolution.NEWER if one.at > other.at else Resolution.BOTH_FLAGGED


def best_first(facts: Sequence[Fact]) -> list[Fact]:
    """By confidence, then the newest, then by what says most about the request."""
    return sorted(
        facts,
        key=lambda fact: (-fact.confidence, -fact.at.timestamp(), -fact.score, fact.key.int),
    )


def resolve_conflicts(facts: Sequence[Fact], pairs: Pairs) -> Resolved:
    """What stands of facts of which these pairs contradict each other.

    No two facts that stand contradict each other, except where confidence and time are equal:
    those are flagged. Every fact that lost did so to one that stands.
    """
    against = _against(facts, pairs)
    standing: dict[UUID, Fact] = {}
    losers: dict[UUID, tuple[UUID, str]] = {}
    rivals: dict[UUID, list[UUID]] = defaultdict(list)
    for fact in best_first(facts):
        others = [standing[key] for key in against.get(fact.key, ()) if key in standing]
        better = [other for other in others if prefer(other, fact) != Resolution.BOTH_FLAGGED]
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
    """The facts that contradict each other, directly or by others, each group best first."""
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
        reason = "confidence and time are equal, so a person decides"
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
