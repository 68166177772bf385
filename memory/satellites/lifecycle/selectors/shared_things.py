"""Memories that share a name or an artifact that few others have, and the edges between some."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias
from uuid import UUID

from django.db.models import Q

from memory.models import Memory, MemoryRelation
from memory.models.memory import MemoryArtifact
from memory.satellites.lifecycle.links import RARE, named_things
from teams.prepared import run_prepared

Pair: TypeAlias = frozenset[UUID]
_HOLDING = """
SELECT term, memory_id FROM palimpsest_matches($1, '{""}', true, $2, $3, NULL, NULL)
"""
_NAMING = """
SELECT named.kind, named.ref, a.memory_id FROM unnest($2::text[], $3::text[]) AS named (kind, ref)
CROSS JOIN LATERAL (
    SELECT memory_id FROM memory_memoryartifact
    WHERE team_id = $1 AND kind = named.kind AND ref = named.ref LIMIT $4
) AS a
"""


def sharing_names(*, team_id: UUID, memories: Sequence[Memory]) -> set[Pair]:
    """Pairs of a memory and another one, of which few of the team share a name; in scope."""
    things = {memory.pk: named_things(memory.content) for memory in memories}
    terms = sorted({term for each in things.values() for term in each})
    if not terms:
        return set()
    holding: dict[str, set[UUID]] = defaultdict(set)
    for number, pk in run_prepared(_HOLDING, [team_id, terms, RARE + 1]):
        holding[terms[number - 1]].add(pk)
    return {
        frozenset({pk, other})
        for pk, named in things.items()
        for term in named
        if len(holding[term]) <= RARE
        for other in holding[term] - {pk}
    }


def sharing_artifacts(*, team_id: UUID, ids: Collection[UUID]) -> set[Pair]:
    """Pairs, one side among the ids, of memories that name the same rare artifact; in scope."""
    rows = MemoryArtifact.objects.filter(team_id=team_id)
    named = sorted(set(rows.filter(memory__in=ids).values_list("kind", "ref")))
    given = [team_id, [kind for kind, _ in named], [ref for _, ref in named], RARE + 1]
    holding: dict[tuple[str, str], list[UUID]] = defaultdict(list)
    for kind, ref, pk in run_prepared(_NAMING, given) if named else ():
        holding[kind, ref].append(pk)
    return {
        frozenset(pair)
        for thing in named
        if len(holding[thing]) <= RARE
        for pair in combinations(holding[thing], 2)
        if not set(ids).isdisjoint(pair)
    }


def edges_of(*, team_id: UUID, ids: Iterable[UUID]) -> Sequence[MemoryRelation]:
    """All edges from or to these memories; call it in the team's scope."""
    wanted = list(ids)
    rows = MemoryRelation.objects.filter(team_id=team_id)
    return list(rows.filter(Q(from_memory__in=wanted) | Q(to_memory__in=wanted)))


def discovered_edges(*, team_id: UUID, after: UUID, most: int) -> Sequence[MemoryRelation]:
    """The next edges that consolidations found, with what they join; call it in scope."""
    rows = MemoryRelation.objects.filter(team_id=team_id, id__gt=after).exclude(grounds="")
    return list(rows.select_related("from_memory", "to_memory").order_by("id")[:most])


def memories_of(*, team_id: UUID, pairs: Iterable[Pair]) -> Mapping[UUID, Memory]:
    """The live memories of the pairs, by id; call it in the team's scope."""
    ids = {pk for pair in pairs for pk in pair}
    return Memory.objects.live().filter(team_id=team_id).in_bulk(list(ids))
