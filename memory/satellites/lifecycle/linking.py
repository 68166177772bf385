"""Links memories that share people, projects and things."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import combinations
from typing import TypeAlias
from uuid import UUID

import numpy as np
from django.conf import settings
from django.db.models import Q

from memory.domain.audience import Reach
from memory.domain.text.calendar import MONTHS, WEEKDAYS
from memory.domain.text.words import split_sentences
from memory.domain.types import MemoryType
from memory.models import Memory, MemoryRelation, MemoryUsage
from memory.models.memory import MemoryArtifact
from memory.reading.usage import told_together
from memory.satellites.lifecycle.models import ConsolidationChange
from memory.satellites.lifecycle.pairs import candidates, compared_as
from memory.satellites.lifecycle.runs import ACTOR, Batch
from memory.satellites.lifecycle.steps import Json, Kind, Page, Planned, Scope, Step
from memory.selectors.neighbours.neighbours import meanings_of
from memory.understanding.tools import Tools
from memory.writing.neighbours import NeighbourSearch, Readers, filed, readers_in
from teams.prepared import run_prepared
from teams.tenancy import team_scope

MOST_LINKS = 5
"""Edges that consolidations may find for one memory."""

RARE = 6
"""A name or artifact that more memories share joins none of them."""

WEAKENED = 0.5
"""What is left of the weight of an edge that does not prove itself, with each run."""

FLOOR = 0.2
"""An edge of less weight is removed."""

USUAL_WEIGHT = 0.6
_FURTHER_GROUND = 0.1
_TOGETHER_AGAIN = 0.05
_SHORTEST = 3
_WORD = re.compile(r"[^\W_]+(?:[_./#-][^\W_]+)*")
_NO_NAMES = frozenset({*MONTHS, *WEEKDAYS, "user"})


class Ground(StrEnum):
    """Why two memories are joined."""

    ENTITY = "entity"
    ARTIFACT = "artifact"
    SIMILARITY = "similarity"
    TOGETHER = "together"


def named_things(text: str) -> frozenset[str]:
    """The names and identifiers in a text, casefolded.

    Words with a capital that do not open a sentence, and those with a capital or a number inside:
    "Helsinki", "PostgreSQL", "v2", "billing-api/db". How rare they are is not known here.
    """
    found = set()
    for sentence in split_sentences(text):
        for place, match in enumerate(_WORD.finditer(sentence)):
            word = match[0]
            inside = word[1:] != word[1:].lower() or not word.isalpha()
            is_name = not word.isdigit() and (inside or (place > 0 and word[0].isupper()))
            if is_name and len(word) >= _SHORTEST and word.casefold() not in _NO_NAMES:
                found.add(word.casefold())
    return frozenset(found)


def weight_of(grounds: Mapping[Ground, float]) -> float:
    """The weight 0-1 of an edge: of its best ground, and a little for each further one."""
    return round(min(1.0, max(grounds.values()) + _FURTHER_GROUND * (len(grounds) - 1)), 2)


def weight_of_answers(count: int) -> float:
    """What it weighs that two memories were among the best of so many answers."""
    return min(1.0, USUAL_WEIGHT + _TOGETHER_AGAIN * count)


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


_TYPE = "related_to"
_OTHER = "its edge is another by now"


class Link:
    """Joins two memories."""

    def make(self, change: ConsolidationChange, batch: Batch) -> str:
        """Make it; returns why not, "" where it is made."""
        newer, older = batch.pair(change)
        if not (newer.is_live and older.is_live):
            return "one of them is no longer current"
        readers = readers_in(team_id=batch.team_id)
        if not are_for_the_same(newer, older, readers=readers):
            return "they are for other readers by now"
        edge, is_new = MemoryRelation.objects.get_or_create(
            team_id=batch.team_id,
            from_memory=newer,
            to_memory=older,
            relation_type=_TYPE,
            defaults={**change.after},
        )
        if not is_new:
            return "they are linked already"
        change.result = {"edge": str(edge.pk)}
        return ""

    def take_back(self, change: ConsolidationChange, batch: Batch) -> str:
        """Remove the edge, also where it is weaker by now."""
        MemoryRelation.objects.filter(team_id=batch.team_id, pk=change.result["edge"]).delete()
        return ""


class Weaken:
    """Lets an edge weigh less."""

    def make(self, change: ConsolidationChange, batch: Batch) -> str:
        """Make it; returns why not, "" where it is made."""
        edge = _edge(change, batch)
        if edge is None:
            return _OTHER
        edge.strength = change.after["strength"]
        edge.save(update_fields=["strength"])
        change.result = {"edge": str(edge.pk)}
        return ""

    def take_back(self, change: ConsolidationChange, batch: Batch) -> str:
        """Let it weigh what it did; an edge that is gone since stays so."""
        rows = MemoryRelation.objects.filter(team_id=batch.team_id, pk=change.result["edge"])
        rows.filter(strength=change.after["strength"]).update(strength=change.before["strength"])
        return ""


class Unlink:
    """Removes an edge, which is kept with the change."""

    def make(self, change: ConsolidationChange, batch: Batch) -> str:
        """Make it; returns why not, "" where it is made."""
        edge = _edge(change, batch)
        if edge is None:
            return _OTHER
        change.result = {"edge": str(edge.pk), "created_at": edge.created_at.isoformat()}
        edge.delete()
        return ""

    def take_back(self, change: ConsolidationChange, batch: Batch) -> str:
        """Join the two again, unless they were since."""
        edge, is_new = MemoryRelation.objects.get_or_create(
            team_id=batch.team_id,
            from_memory_id=change.memory_id,
            to_memory_id=change.other_id,
            relation_type=_TYPE,
            defaults={**change.before, "id": change.result["edge"]},
        )
        if is_new:
            found_at = datetime.fromisoformat(change.result["created_at"])
            MemoryRelation.objects.filter(team_id=batch.team_id, pk=edge.pk).update(
                created_at=found_at
            )
        return ""


def _edge(change: ConsolidationChange, batch: Batch) -> MemoryRelation | None:
    """The edge as it was when the change was planned, locked."""
    return (
        MemoryRelation.objects.select_for_update()
        .filter(
            team_id=batch.team_id,
            from_memory=change.memory_id,
            to_memory=change.other_id,
            relation_type=_TYPE,
            **change.before,
        )
        .first()
    )
