"""Links memories that share people, projects and things, and unlinks what does not prove itself."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import combinations
from typing import TypeAlias
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from memory.domain.audience import Reach
from memory.domain.text.calendar import MONTHS, WEEKDAYS
from memory.domain.text.words import split_sentences
from memory.domain.types import MemoryType
from memory.models import Memory, MemoryRelation, MemoryUsage
from memory.models.memory import MemoryArtifact
from memory.reading.usage import told_together
from memory.satellites.lifecycle.models import ConsolidationChange, Kind, Step
from memory.satellites.lifecycle.pairs import FIRST, candidates, neighbour_search
from memory.satellites.lifecycle.steps import ACTOR, Batch, Executor, Json, Page, Planned, Scope
from memory.selectors.neighbours import meanings_of
from memory.understanding.tools import Tools
from memory.writing.neighbours import Readers, filed, readers_in
from teams.prepared import run_prepared
from teams.tenancy import team_scope

# Edges that consolidations may find for one memory.
_MOST_LINKS = 5
# A name or artifact that more memories share joins none of them.
_RARE = 6
# What is left of the weight of an edge that does not prove itself, with each run.
_WEAKENED = 0.5
# An edge of less weight is removed.
_FLOOR = 0.2
_USUAL_WEIGHT = 0.6
_FURTHER_GROUND = 0.1
_TOGETHER_AGAIN = 0.05
_SHORTEST = 3
_WORD = re.compile(r"[^\W_]+(?:[_./#-][^\W_]+)*")
_NO_NAMES = frozenset({*MONTHS, *WEEKDAYS, "user"})
_EDGES = 500
# An edge is given so long to be of use.
_TRIAL = timedelta(days=30)
# They reach every prompt by themselves.
_ALWAYS = (MemoryType.IDENTITY.value, MemoryType.USER_PROFILE.value)
_TYPE = "related_to"
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
Pair: TypeAlias = frozenset[UUID]


class Ground(StrEnum):
    """The reason for a link of two memories."""

    ENTITY = "entity"
    ARTIFACT = "artifact"
    SIMILARITY = "similarity"
    TOGETHER = "together"


_GROUND_WORDS = {
    Ground.ENTITY: "a name",
    Ground.ARTIFACT: "a file or another artifact",
    Ground.SIMILARITY: "similar words",
    Ground.TOGETHER: "being used together",
}
Grounds: TypeAlias = Mapping[Ground, float]


def plan(scope: Scope, cursor: Json, tools: Tools) -> Page:
    """Weakens and ends what earlier runs found and no longer holds, then looks for more."""
    given = cursor or {"edges": str(FIRST)}
    with team_scope(team_ids=[scope.team_id], actor=ACTOR):
        if "edges" in given:
            return _checked(scope, UUID(given["edges"]), tools)
        memories, page = candidates(scope=scope, step=Step.LINK, cursor=given["memories"])
        planned = _found(scope, memories, tools)
    following = None if page.cursor is None else {"memories": page.cursor}
    return Page(tuple(planned), following, page.resume, page.looked_at)


def _checked(scope: Scope, after: UUID, tools: Tools) -> Page:
    """Returns the page of changes to the next edges of earlier runs."""
    rows = MemoryRelation.objects.filter(team_id=scope.team_id, id__gt=after).exclude(grounds="")
    edges = list(rows.select_related("from_memory", "to_memory").order_by("id")[:_EDGES])
    following: Json = {"memories": None}
    if len(edges) == _EDGES:
        following = {"edges": str(edges[-1].pk)}
    mine = [each for each in edges if scope.has(each.from_memory)]
    sides = {row.pk: row for each in mine for row in (each.from_memory, each.to_memory)}
    grounds = _grounds(scope, sides, {_pair(each) for each in mine}, tools)
    usage = MemoryUsage.objects.filter(team_id=scope.team_id, memory__in=sides)
    used = dict(usage.values_list("memory_id", "last_accessed_at"))
    planned = []
    for each in mine:
        if _pair(each) not in grounds:
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
    left = round(edge.strength * _WEAKENED, 3)
    kind = Kind.UNLINK if left < _FLOOR else Kind.WEAKEN
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
    pairs = _sharing_names(scope, list(page.values()))
    pairs |= _sharing_artifacts(scope, page)
    pairs |= _near(scope, list(page.values()), tools)
    pairs |= {
        pair
        for pair in told_together(team_id=scope.team_id, now=scope.now)
        if not page.keys().isdisjoint(pair)
    }
    ids = {pk for pair in pairs for pk in pair}
    rows = Memory.objects.live().filter(team_id=scope.team_id).in_bulk(list(ids))
    known = list(rows)
    edges = MemoryRelation.objects.filter(
        Q(from_memory__in=known) | Q(to_memory__in=known), team_id=scope.team_id
    )
    links: Counter[UUID] = Counter()
    for edge in edges:
        pairs.discard(_pair(edge))
        if edge.grounds:
            links.update(_pair(edge))
    grounds = _grounds(scope, rows, pairs, tools)
    planned = []
    for pair in sorted(grounds, key=lambda one: (-_weight(grounds[one]), sorted(one))):
        if any(links[pk] >= _MOST_LINKS for pk in pair):
            continue
        links.update(pair)
        planned.append(_linked([rows[pk] for pk in pair], grounds[pair]))
    return planned


def _linked(sides: Sequence[Memory], grounds: Grounds) -> Planned:
    older, newer = sorted(sides, key=lambda each: (each.created_at, each.pk))
    names = ",".join(ground.value for ground in grounds)
    return Planned(
        Kind.LINK,
        newer.pk,
        f"related by {', '.join(_GROUND_WORDS[each] for each in grounds)}",
        other_id=older.pk,
        after={"strength": _weight(grounds), "grounds": names},
    )


def _weight(grounds: Grounds) -> float:
    """The weight 0-1 of an edge: of its best ground, and a little for each further one."""
    return round(min(1.0, max(grounds.values()) + _FURTHER_GROUND * (len(grounds) - 1)), 2)


def _sharing_names(scope: Scope, memories: Sequence[Memory]) -> set[Pair]:
    """Pairs of a memory and another one, of which few of the team share a name."""
    things = {memory.pk: _named_things(memory.content) for memory in memories}
    terms = sorted({term for each in things.values() for term in each})
    if not terms:
        return set()
    holding: dict[str, set[UUID]] = defaultdict(set)
    for number, pk in run_prepared(_HOLDING, [scope.team_id, terms, _RARE + 1]):
        holding[terms[number - 1]].add(pk)
    return {
        frozenset({pk, other})
        for pk, named in things.items()
        for term in named
        if len(holding[term]) <= _RARE
        for other in holding[term] - {pk}
    }


def _named_things(text: str) -> frozenset[str]:
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


def _sharing_artifacts(scope: Scope, ids: Collection[UUID]) -> set[Pair]:
    """Pairs, one side among the ids, of memories that name the same rare artifact."""
    rows = MemoryArtifact.objects.filter(team_id=scope.team_id)
    named = sorted(set(rows.filter(memory__in=ids).values_list("kind", "ref")))
    given = [scope.team_id, [kind for kind, _ in named], [ref for _, ref in named], _RARE + 1]
    holding: dict[tuple[str, str], list[UUID]] = defaultdict(list)
    for kind, ref, pk in run_prepared(_NAMING, given) if named else ():
        holding[kind, ref].append(pk)
    return {
        frozenset(pair)
        for thing in named
        if len(holding[thing]) <= _RARE
        for pair in combinations(holding[thing], 2)
        if not set(ids).isdisjoint(pair)
    }


def _near(scope: Scope, memories: Sequence[Memory], tools: Tools) -> set[Pair]:
    """Pairs of these with the few nearest that are near enough, as a write finds them."""
    rows, search = neighbour_search(scope=scope, memories=memories, tools=tools)
    if search is None:
        return set()
    return {
        frozenset({row.pk, near.memory.pk})
        for place, row in enumerate(rows)
        for near in search.of(place)[: settings.LINKED_NEIGHBOURS + 1]
        if near.memory.pk != row.pk and near.similarity >= settings.LINK_SIMILARITY
    }


def _grounds(
    scope: Scope, rows: Mapping[UUID, Memory], pairs: Iterable[Pair], tools: Tools
) -> dict[Pair, Grounds]:
    """Returns the reasons for linking each pair of rows; none where their readers differ."""
    fit = {pk: row for pk, row in rows.items() if scope.has(row) and row.is_live}
    readers = readers_in(team_id=scope.team_id)
    named = _sharing_names(scope, list(rows.values()))
    artifacts = _sharing_artifacts(scope, list(rows))
    together = told_together(team_id=scope.team_id, now=scope.now)
    meanings = meanings_of(
        team_id=scope.team_id, ids=list(rows), embedding_model=tools.embedder.name
    )
    found: dict[Pair, Grounds] = {}
    for pair in pairs:
        sides = [fit[pk] for pk in pair if pk in fit]
        if len(sides) != len(pair) or not _are_for_the_same(*sides, readers=readers):
            continue
        grounds: dict[Ground, float] = {}
        if pair in named:
            grounds[Ground.ENTITY] = _USUAL_WEIGHT
        if pair in artifacts:
            grounds[Ground.ARTIFACT] = _USUAL_WEIGHT
        one, other = (meanings.get(row.pk) for row in sides)
        if one is not None and other is not None:
            cosine = float(one.vector @ other.vector)
            if cosine >= settings.LINK_SIMILARITY:
                grounds[Ground.SIMILARITY] = min(1.0, cosine)
        if pair in together:
            grounds[Ground.TOGETHER] = min(1.0, _USUAL_WEIGHT + _TOGETHER_AGAIN * together[pair])
        if grounds:
            found[pair] = grounds
    return found


def _are_for_the_same(one: Memory, other: Memory, *, readers: Readers) -> bool:
    """Returns whether everybody who may see one of them may see the other."""
    sides = filed(one), filed(other)
    if sides[0].owner != sides[1].owner:
        return False
    return readers.allowlists.reach(of=sides[0], beside=sides[1]) is Reach.SAME


def _pair(edge: MemoryRelation) -> Pair:
    return frozenset({edge.from_memory_id, edge.to_memory_id})


def _link(change: ConsolidationChange, batch: Batch) -> str:
    newer, older = batch.pair(change)
    if not (newer.is_live and older.is_live):
        return "one of them is no longer current"
    if not _are_for_the_same(newer, older, readers=readers_in(team_id=batch.team_id)):
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


def _remove(change: ConsolidationChange, batch: Batch) -> str:
    """Removes the edge that was made, also where it is weaker by now."""
    MemoryRelation.objects.filter(team_id=batch.team_id, pk=change.result["edge"]).delete()
    return ""


def _weaken(change: ConsolidationChange, batch: Batch) -> str:
    edge = _edge(change, batch)
    if edge is None:
        return "its edge is another by now"
    edge.strength = change.after["strength"]
    edge.save(update_fields=["strength"])
    change.result = {"edge": str(edge.pk)}
    return ""


def _strengthen(change: ConsolidationChange, batch: Batch) -> str:
    """Gives the edge its weight of before; an edge that is gone since stays so."""
    rows = MemoryRelation.objects.filter(team_id=batch.team_id, pk=change.result["edge"])
    rows.filter(strength=change.after["strength"]).update(strength=change.before["strength"])
    return ""


def _unlink(change: ConsolidationChange, batch: Batch) -> str:
    edge = _edge(change, batch)
    if edge is None:
        return "its edge is another by now"
    change.result = {"edge": str(edge.pk), "created_at": edge.created_at.isoformat()}
    edge.delete()
    return ""


def _join_again(change: ConsolidationChange, batch: Batch) -> str:
    """Joins the two again, unless they were since."""
    edge, is_new = MemoryRelation.objects.get_or_create(
        team_id=batch.team_id,
        from_memory_id=change.memory_id,
        to_memory_id=change.other_id,
        relation_type=_TYPE,
        defaults={**change.before, "id": change.result["edge"]},
    )
    if is_new:
        MemoryRelation.objects.filter(team_id=batch.team_id, pk=edge.pk).update(
            created_at=datetime.fromisoformat(change.result["created_at"])
        )
    return ""


def _edge(change: ConsolidationChange, batch: Batch) -> MemoryRelation | None:
    """The edge as it was when the change was planned, locked."""
    rows = MemoryRelation.objects.select_for_update().filter(
        team_id=batch.team_id,
        from_memory=change.memory_id,
        to_memory=change.other_id,
        relation_type=_TYPE,
        **change.before,
    )
    return rows.first()


LINK = Executor(_link, _remove)
WEAKEN = Executor(_weaken, _strengthen)
UNLINK = Executor(_unlink, _join_again)
