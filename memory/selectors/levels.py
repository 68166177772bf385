"""Shorter versions of memories' texts, as they are stored."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from memory.domain.levels import Level, Levels, levels_of
from memory.models import Memory
from teams.prepared import fetch_planned

_STORED = """
SELECT memory_id, summary, compressed, index_term, told_at_most FROM memory_memorylevels
WHERE (team_id = %(team)s) IS TRUE AND memory_id = ANY (%(ids)s::uuid[]) AND writer <> ''
    AND (told_at_most <> 'content' OR NOT %(shortened)s)
"""


def stored_levels(
    *, team_id: UUID, ids: Iterable[UUID], is_shortened: bool = False
) -> dict[UUID, Levels]:
    """The levels of those of the memories that have been written; call it in the team's scope.

    With `is_shortened` only of those that prompts no longer tell whole. The caller has made sure
    that its viewer may see the memories.
    """
    wanted = list(ids)
    if not wanted:
        return {}
    given = {"team": team_id, "ids": wanted, "shortened": is_shortened}
    rows = fetch_planned(_STORED, given)
    return {
        pk: Levels(summary, compressed, index_term, Level(told))
        for pk, summary, compressed, index_term, told in rows
    }


def levels_of_memory(memory: Memory) -> Levels:
    """The memory's levels: the stored ones, or what the rules make of its text."""
    stored = stored_levels(team_id=memory.team_id, ids=[memory.pk]).get(memory.pk)
    payload = memory.payload if memory.form else {}
    return stored or levels_of(memory.content, form=memory.form, payload=payload)
