"""Shorter versions of memories' texts, as they are stored."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from memory.domain.levels import Levels, levels_of
from memory.models import Memory
from teams.prepared import fetch_planned

_STORED = """
SELECT memory_id, summary, compressed, index_term FROM memory_memorylevels
WHERE (team_id = %(team)s) IS TRUE AND memory_id = ANY (%(ids)s::uuid[]) AND writer <> ''
"""


def stored_levels(*, team_id: UUID, ids: Iterable[UUID]) -> dict[UUID, Levels]:
    """The levels of those of the memories that have been written; call it in the team's scope.

    The caller has made sure that its viewer may see the memories.
    """
    wanted = list(ids)
    if not wanted:
        return {}
    rows = fetch_planned(_STORED, {"team": team_id, "ids": wanted})
    return {pk: Levels(*texts) for pk, *texts in rows}


def levels_of_memory(memory: Memory) -> Levels:
    """The memory's levels: the stored ones, or what the rules make of its text."""
    stored = stored_levels(team_id=memory.team_id, ids=[memory.pk]).get(memory.pk)
    payload = memory.payload if memory.form else {}
    return stored or levels_of(memory.content, form=memory.form, payload=payload)
