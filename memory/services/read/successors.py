"""Ranks what is past behind what superseded it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from memory.models import Memory
from memory.services.read.ranking import Ranked

# Of the score of what took its place, a past memory has at most this share.
BEHIND = 0.99
_LONGEST_CHAIN = 100


def behind_successors(
    *, team_id: UUID, ranked: Sequence[Ranked]
) -> tuple[list[Ranked], dict[UUID, UUID]]:
    """The memories, best first, none that is past before what superseded it.

    And of each past one the last that took its place, where that was found as well. Call it in
    the team's scope.
    """
    past = {each.row.memory_id for each in ranked if not each.row.is_live}
    if not past:
        return list(ranked), {}
    standing = {each.row.memory_id for each in ranked if each.row.is_live}
    after = _successors(team_id, past, standing)
    scores = {each.row.memory_id: each.score for each in ranked}
    kept = [each._replace(score=_held(each, after, scores)) for each in ranked]
    ends = {key: end for key in past if (end := _end(key, after)) in standing}
    return sorted(kept, key=lambda each: (-each.score, each.row.memory_id)), ends


def told_alone(ends: Mapping[UUID, UUID], told: Collection[UUID]) -> set[UUID]:
    """What of the past would be told without that which took its place."""
    return {past for past, end in ends.items() if past in told and end not in told}


def _end(key: UUID, after: Mapping[UUID, UUID]) -> UUID:
    for _ in range(_LONGEST_CHAIN):
        if key not in after:
            break
        key = after[key]
    return key


def _held(each: Ranked, after: dict[UUID, UUID], scores: dict[UUID, float]) -> float:
    """The score of a memory, held below those of all that came after it and were found."""
    score, key, share = each.score, each.row.memory_id, 1.0
    for _ in range(_LONGEST_CHAIN):
        if key not in after:
            break
        key, share = after[key], share * BEHIND
        score = min(score, share * scores.get(key, 1.0))
    return score


def _successors(
    team_id: UUID, ids: Collection[UUID], standing: Collection[UUID]
) -> dict[UUID, UUID]:
    """By what each was superseded, and by what that was, to the end of the chains.

    Nothing took the place of what is `standing`, so that is not asked for.
    """
    after: dict[UUID, UUID] = {}
    wanted = set(ids)
    for _ in range(_LONGEST_CHAIN):
        rows = Memory.objects.filter(
            team_id=team_id, pk__in=wanted, superseded_by__isnull=False
        ).values_list("id", "superseded_by_id")
        found = {pk: later for pk, later in rows if later is not None}
        after |= found
        wanted = set(found.values()) - after.keys() - set(standing)
        if not wanted:
            break
    return after
