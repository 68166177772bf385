"""The parts of a fact of the team: memories of several people that state it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from memory.domain.types import Status
from memory.models import Memory, MemoryRelation
from memory.satellites.consent.models import ConsentRequest
from teams.errors import ConflictError

# What wrote the memory. Erasures know it by this name: audit/sql/erasure.sql.
EXTRACTOR = "team_facts"
FEWEST_PEOPLE = 2


def people_of(parts: Iterable[Memory]) -> set[UUID]:
    """The people whose memories they are."""
    return {each.end_user_id for each in parts if each.end_user_id is not None}


def locked_parts(request: ConsentRequest) -> list[Memory]:
    """The parts of a request that still stand, locked; call it in the team's scope.

    Raises ConflictError where fewer than two people still state the fact.
    """
    rows = Memory.objects.select_for_update().filter(
        team_id=request.team_id, pk__in=request.draft["parts"], status=Status.ACTIVE.value
    )
    parts = list(rows.order_by("pk"))
    if len(people_of(parts)) < FEWEST_PEOPLE:
        raise ConflictError("Fewer than two people state it by now; reject it.")
    return parts


def keep_parts(*, fact: Memory, parts: Sequence[Memory]) -> None:
    """Keep of which memories a fact was made; call it in the transaction that wrote it.

    Nothing where the team knew it from elsewhere: that must not fall with a person's part.
    """
    if fact.extractor != EXTRACTOR:
        return
    MemoryRelation.objects.bulk_create(
        (
            MemoryRelation(
                team_id=fact.team_id,
                from_memory=fact,
                to_memory=each,
                relation_type="derived_from",
                strength=1.0,
            )
            for each in parts
        ),
        ignore_conflicts=True,
    )
