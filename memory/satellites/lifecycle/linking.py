"""Links between memories of the same readers that share something, and the end of wrong ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from uuid import UUID

import numpy as np
from django.conf import settings

from memory.domain.audience import Reach
from memory.domain.types import MemoryType
from memory.models import Memory, MemoryRelation, MemoryUsage
from memory.reading.usage import told_together
from memory.satellites.lifecycle.links import (
    FLOOR,
    MOST_LINKS,
    USUAL_WEIGHT,
    WEAKENED,
    Ground,
    weight_of,
    weight_of_answers,
)
from memory.satellites.lifecycle.pairs import compared_as
from memory.satellites.lifecycle.runs import ACTOR
from memory.satellites.lifecycle.selectors.candidates import candidates
from memory.satellites.lifecycle.selectors.scope import Scope
from memory.satellites.lifecycle.selectors.shared_things import (
    Pair,
    discovered_edges,
    edges_of,
    memories_of,
    sharing_artifacts,
    sharing_names,
)
from memory.satellites.lifecycle.steps import Json, Kind, Page, Planned, Step
from memory.selectors.neighbours.neighbours import meanings_of
from memory.services.write.audiences import Readers, filed, readers_in
from memory.services.write.neighbours import NeighbourSearch
from memory.understanding.tools import Tools
from teams.tenancy import team_scope

_EDGES = 500
# An edge is given so long to be of use.
_TRIAL = timedelta(days=30)
_FIRST = UUID(int=0)
# They reach every prompt by themselves.
_ALWAYS = (MemoryType.IDENTITY.value, MemoryType.USER_PROFILE.value)


def plan(scope: Scope, cursor: Json, tools: Tools) -> Page:
    """Weaken and end what earlier runs found and no longer holds, then look for more."""
    given = cursor or {"edges": str(_FIRST)}
    with team_scope(team_ids=[scope.team_id], actor=ACTOR):
        if "edges" in given:
            return _checked(scope, UUID(given["edges"]), tools)
        page = candidates(scope=scope, step=Step.LINK, cursor=given["memories"])
        planned = _found(scope, page.memories, tools)
    following = None if page.cursor is None else {"memories": page.cursor}
    return Page(tuple(planned), following, page.resume, len(page.memories))


def _checked(scope: Scope, after: UUID, tools: Tools) -> Page:
    """What becomes of the next edges of earlier runs."""
    edges = discovered_edges(team_id=scope.team_id, after=after, most=_EDGES)
    following: Json = {"memories": None}
    if len(edges) == _EDGES:
        following = {"edges": str(edges[-1].pk)}
    mine = [each for each in edges if _is_of(scope, each.from_memory)]
    sides = {row.pk: row for each in mine for row in (each.from_memory, each.to_memory)}
    pairs = {_pair(each) for each in mine}
    grounds = _Grounds(scope, sides, tools).of(pairs)
    usage = MemoryUsage.objects.filter(team_id=scope.team_id, memory__in=sides)
    used = dict(usage.values_list("memory_id", "last_accessed_at"))
    planned = []
    for each in mine:
        if not grounds.get(_pair(each)):
            because = "they no longer share anything, or are no longer for the same readers"
        elif each.created_at < scope.now - _TRIAL and not any(
            at is not None and at > each.created_at
            for at in (used.get(each.from_memory_id), used.get(each.to_memory_id))
        ):
            because = "neither was of use since it was found"
        else:
            continue
        planned.append(_weaker(each, because))
    return Page(tuple(planned), following, looked_at=len(edges))


def _weaker(edge: MemoryRelation, because: str) -> Planned:
    left = round(edge.strength * WEAKENED, 3)
    kind = Kind.UNLINK if left < FLOOR else Kind.WEAKEN
    return Planned(
        kind,
        edge.from_memory_id,
        because,
        other_id=edge.to_memory_id,
        before={"strength": edge.strength, "grounds": edge.grounds},
        after={} if kind is Kind.UNLINK else {"strength": left},
    )


def _found(scope: Scope, memories: Sequence[Memory], tools: Tools) -> list[Planned]:
    """New edges of these memories, the strongest first, as far as each has room for more."""
    page = {row.pk: row for row in memories if not row.is_pinned and row.memory_type not in _ALWAYS}
    pairs = sharing_names(team_id=scope.team_id, memories=list(page.values()))
    pairs |= sharing_artifacts(team_id=scope.team_id, ids=page)
    pairs |= _near(scope, list(page.values()), tools)
    pairs |= {
        pair
        for pair in told_together(team_id=scope.team_id, now=scope.now)
        if not page.keys().isdisjoint(pair)
    }
    rows = memories_of(team_id=scope.team_id, pairs=pairs)
    edges = edges_of(team_id=scope.team_id, ids=rows)
    joined = {_pair(each) for each in edges}
    links = Counter(pk for each in edges if each.grounds for pk in _pair(each))
    grounds = _Grounds(scope, rows, tools).of(pair for pair in pairs if pair not in joined)
    planned = []
    for pair in sorted(grounds, key=lambda one: (-weight_of(grounds[one]), sorted(one))):
        if any(links[pk] >= MOST_LINKS for pk in pair):
            continue
        links.update(pair)
        planned.append(_link([rows[pk] for pk in pair], grounds[pair]))
    return planned


def _link(sides: Sequence[Memory], grounds: Mapping[Ground, float]) -> Planned:
    """From the later to the earlier one, as a write links."""
    older, newer = sorted(sides, key=lambda each: (each.created_at, each.pk))
    names = ",".join(ground.value for ground in grounds)
    return Planned(
        Kind.LINK,
        newer.pk,
        f"they share: {names}",
        other_id=older.pk,
        after={"strength": weight_of(grounds), "grounds": names},
    )


def _near(scope: Scope, memories: Sequence[Memory], tools: Tools) -> set[Pair]:
    """Pairs of these with the few nearest that are near enough, as a write finds them."""
    model = tools.embedder.name
    ids = [each.pk for each in memories]
    meanings = meanings_of(team_id=scope.team_id, ids=ids, embedding_model=model)
    rows = [each for each in memories if each.pk in meanings]
    if not rows:
        return set()
    search = NeighbourSearch(
        drafts=[compared_as(each) for each in rows],
        vectors=np.stack([meanings[each.pk].vector for each in rows]),
        embedding_model=model,
        readers=readers_in(team_id=scope.team_id),
    )
    return {
        frozenset({row.pk, near.memory.pk})
        for place, row in enumerate(rows)
        for near in search.of(place)[: settings.LINKED_NEIGHBOURS + 1]
        if near.memory.pk != row.pk and near.similarity >= settings.LINK_SIMILARITY
    }


class _Grounds:
    """What memories share, two by two; nothing where others read the one than the other."""

    def __init__(self, scope: Scope, rows: Mapping[UUID, Memory], tools: Tools) -> None:
        ids = list(rows)
        self._rows = {pk: row for pk, row in rows.items() if _is_of(scope, row) and row.is_live}
        self._readers = readers_in(team_id=scope.team_id)
        self._named = sharing_names(team_id=scope.team_id, memories=list(rows.values()))
        self._artifacts = sharing_artifacts(team_id=scope.team_id, ids=ids)
        self._together = told_together(team_id=scope.team_id, now=scope.now)
        meanings = meanings_of(team_id=scope.team_id, ids=ids, embedding_model=tools.embedder.name)
        self._vectors = {pk: each.vector for pk, each in meanings.items()}

    def of(self, pairs: Iterable[Pair]) -> dict[Pair, Mapping[Ground, float]]:
        """The grounds of each pair that has some, with what each weighs."""
        found = {pair: self._of(pair) for pair in pairs}
        return {pair: grounds for pair, grounds in found.items() if grounds}

    def _of(self, pair: Pair) -> Mapping[Ground, float]:
        rows = [self._rows[pk] for pk in pair if pk in self._rows]
        if len(rows) != len(pair) or not are_for_the_same(*rows, readers=self._readers):
            return {}
        grounds: dict[Ground, float] = {}
        if pair in self._named:
            grounds[Ground.ENTITY] = USUAL_WEIGHT
        if pair in self._artifacts:
            grounds[Ground.ARTIFACT] = USUAL_WEIGHT
        one, other = (self._vectors.get(row.pk) for row in rows)
        if one is not None and other is not None:
            cosine = float(one @ other)
            if cosine >= settings.LINK_SIMILARITY:
                grounds[Ground.SIMILARITY] = min(1.0, cosine)
        if pair in self._together:
            grounds[Ground.TOGETHER] = weight_of_answers(self._together[pair])
        return grounds


def are_for_the_same(one: Memory, other: Memory, *, readers: Readers) -> bool:
    """Whether everybody who may see one of them may see the other."""
    sides = filed(one), filed(other)
    if sides[0].owner != sides[1].owner:
        return False
    return readers.allowlists.reach(of=sides[0], beside=sides[1]) is Reach.SAME


def _is_of(scope: Scope, memory: Memory) -> bool:
    """Whether the run may change it."""
    return scope.end_user_id in (None, memory.end_user_id) and scope.project_id in (
        None,
        memory.project_id,
    )


def _pair(edge: MemoryRelation) -> Pair:
    return frozenset({edge.from_memory_id, edge.to_memory_id})
