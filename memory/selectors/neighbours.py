"""Neighbours of a draft: the nearest memories, as they are compared."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import Q
from numpy.typing import NDArray

from memory.domain.audience import OF_AN_AGENT, OPEN, TEAM_WIDE, Owner, Reach
from memory.models import Memory, SearchGraph
from memory.models.memory import LIVE
from memory.models.search import Place
from memory.selectors.filters import as_sql, stand_in
from memory.selectors.memories import built
from memory.selectors.search.vectors import STORED, VectorSearch, graph_of, scan_settings
from teams.prepared import fetch_planned, load_sql_parts

_COMPARED = (
    *("id", "team_id", "content", "subject", "created_at", "memory_type", "category", "form"),
    *(
        "tags",
        "agent_id",
        "end_user_id",
        "project_id",
        "source",
        "extractor",
        "valid_from",
        "valid_to",
    ),
)
_WHOLE = tuple(field.attname for field in Memory._meta.concrete_fields)
_SQL = load_sql_parts(__file__, "neighbours.sql")
# Behind dimensions and an unused field of 16 bits each.
_NUMBERS_FROM = 4
_READ = _SQL["live"].format(columns=", ".join(_COMPARED))
_LOCK = _SQL["live"].format(columns=", ".join(_WHOLE)) + " ORDER BY id FOR UPDATE"
_FACTS = _SQL["facts"].format(columns=", ".join(_WHOLE))
_OF_NOBODY, _OF_USER = (_SQL["retired"].format(owner=each) for each in ("IS NULL", "= %(user)s"))
_SAID = (
    *(
        "id",
        "team_id",
        "memory_type",
        "agent_id",
        "end_user_id",
        "project_id",
        "category",
        "status",
    ),
    "extraction_pass",
)


def live_memories(*, team_id: UUID, ids: Iterable[UUID]) -> dict[UUID, Memory]:
    """Returns the live ones with what compares them; other fields are read on access."""
    rows = fetch_planned(_READ, {"team": team_id, "ids": list(ids), "live": list(LIVE)})
    return {row[0]: built(Memory, dict(zip(_COMPARED, row, strict=True))) for row in rows}


def locked_memories(*, team_id: UUID, ids: Iterable[UUID]) -> dict[UUID, Memory]:
    """Returns the live ones, whole, locked in the order of ids until the transaction ends."""
    rows = fetch_planned(_LOCK, {"team": team_id, "ids": list(ids), "live": list(LIVE)})
    memories = (built(Memory, dict(zip(_WHOLE, row, strict=True))) for row in rows)
    return {memory.pk: memory for memory in memories}


def live_facts(*, team_id: UUID, keys: Iterable[bytes]) -> list[Memory]:
    """Returns the live memories that stand under those keys of equal facts, whole."""
    rows = fetch_planned(_FACTS, {"team": team_id, "keys": list(keys)})
    return [built(Memory, dict(zip(_WHOLE, row, strict=True))) for row in rows]


@dataclass(frozen=True, slots=True)
class Meaning:
    """The unit vector of a stored memory, its agent and its extraction pass."""

    vector: NDArray[np.float32]
    agent_id: UUID | None
    extraction_pass: int | None


def meanings_of(*, team_id: UUID, ids: Iterable[UUID], embedding_model: str) -> dict[UUID, Meaning]:
    """Returns the memories that have a vector of the model."""
    given = {"team": team_id, "ids": list(ids), "model": embedding_model}
    return {
        pk: Meaning(
            np.frombuffer(sent, dtype=">f2", offset=_NUMBERS_FROM).astype(np.float32),
            agent_id,
            extraction_pass,
        )
        for pk, agent_id, extraction_pass, sent in fetch_planned(_SQL["meanings"], given)
        if sent is not None
    }


def retired_sources(
    *, team_id: UUID, end_user_id: UUID | None, keys: Iterable[bytes]
) -> dict[bytes, set[UUID]]:
    """Returns the messages of retired facts about that person, or nobody, by key."""
    given = {"team": team_id, "user": end_user_id, "keys": list(keys)}
    found: dict[bytes, set[UUID]] = {}
    for key, message_ids in fetch_planned(_OF_USER if end_user_id else _OF_NOBODY, given):
        found.setdefault(bytes(key), set()).update(message_ids)
    return found


@dataclass(frozen=True, slots=True)
class Decision:
    """A contradiction that people settled, one side of which, `said`, has certain words.

    `near` is the live memory that it was looked for by, `depth` versions after the settled one;
    None for an objection, which is settled about `said` alone. `is_first` says that `said` is the
    contradiction's `memory_a`, `key` is that of its words and readers.
    """

    near: UUID | None
    depth: int
    resolution: str
    by: str
    at: datetime
    note: str
    is_of_two: bool
    is_first: bool
    key: bytes
    said: Memory


def decisions_on(*, team_id: UUID, keys: Iterable[bytes], near: Sequence[UUID]) -> list[Decision]:
    """Returns what people settled about memories that stood under those keys, oldest first.

    Found are objections, and settlements against one of the live memories `near` or an earlier
    version of one.
    """
    rows = fetch_planned(
        _SQL["decisions"], {"team": team_id, "keys": list(keys), "near": list(near)}
    )
    found = []
    for near_by, depth, how, by, at, note, is_of_two, is_first, key, *said in rows:
        memory = built(Memory, dict(zip(_SAID, said, strict=True)))
        found.append(
            Decision(near_by, depth, how, by, at, note, is_of_two, is_first, bytes(key), memory)
        )
    return found


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A live memory near a new one: its cosine similarity (-1 to 1) and its reach."""

    memory: Memory
    similarity: float
    reach: Reach = Reach.SAME


@dataclass(frozen=True, slots=True)
class ComparisonSet:
    """The memories a draft is compared with: those of its owner, and some beyond.

    Wider ones, which all who will see the draft see as well; and, for what every agent sees,
    narrower ones, whose readers are all going to see the draft: those of `author_id`, the agent
    that learned it, or of all agents if None. So an agent learns nothing of another's.
    """

    owner: Owner
    author_id: UUID | None = None

    def as_q(self) -> Q:
        """Returns the condition of the rows, by columns that memories and entries share."""
        owner = self.owner
        rows = Q(team_id=owner.team_id) & _is("end_user_id", owner.end_user_id)
        in_project = _is("project_id", owner.project_id)
        if owner.kind != OPEN:
            same_agent = _is("agent_id", owner.agent_id)
            return rows & in_project & same_agent & Q(memory_type=owner.kind)
        rows &= ~Q(memory_type__in=OF_AN_AGENT)
        seen_by_all = Q(agent_id__isnull=True) | Q(memory_type__in=TEAM_WIDE)
        in_project |= Q(project_id__isnull=True)
        if owner.agent_id is not None:
            return rows & in_project & (seen_by_all | Q(agent_id=owner.agent_id))
        of_agents = Q(agent_id__isnull=False) & ~Q(memory_type__in=TEAM_WIDE)
        if self.author_id is not None:
            of_agents &= Q(agent_id=self.author_id)
        if owner.project_id is not None:
            of_agents &= Q(project_id=owner.project_id)
        return rows & (in_project & seen_by_all | of_agents)

    def condition(self) -> tuple[str, dict[str, UUID]]:
        """Returns the SQL condition of its live search entries, with its parameters."""
        owner = self.owner
        given = {
            "agent": owner.agent_id,
            "end_user": owner.end_user_id,
            "project": owner.project_id,
            "author": self.author_id,
        }
        parameters = {name: value for name, value in given.items() if value is not None}
        sql = _condition(owner.kind, frozenset(parameters))
        return sql, {**parameters, "team": owner.team_id}

    def holds(self, other: Owner) -> bool:
        """Returns whether a memory of the `other` owner is in it, as `as_q` does for rows."""
        mine = self.owner
        if (mine.kind, mine.end_user_id) != (other.kind, other.end_user_id):
            return False
        if mine == other:
            return True
        if mine.kind != OPEN:
            return False
        if mine.agent_id is None and other.agent_id is not None:
            is_its_authors = self.author_id in (None, other.agent_id)
            return is_its_authors and mine.project_id in (None, other.project_id)
        return other.agent_id in (None, mine.agent_id) and other.project_id in (
            None,
            mine.project_id,
        )


def _is(column: str, value: UUID | None) -> Q:
    return Q(**{f"{column}__isnull": True}) if value is None else Q(**{column: value})


@cache
def _condition(kind: str, named: frozenset[str]) -> str:
    agent, end_user, project, author = (
        stand_in(name) if name in named else None
        for name in ("agent", "end_user", "project", "author")
    )
    among = ComparisonSet(Owner(stand_in("team"), kind, agent, end_user, project), author)
    return as_sql(among.as_q() & Q(place__lte=Place.COLD))


_OWNER = re.compile(r"%\((agent|end_user|project|author)\)s")
# How broadly the approximate index is walked: enough for a few nearest, in less time.
_BREADTH = 48


@dataclass(frozen=True, slots=True)
class Asked:
    """A new memory whose neighbours are wanted, and among which."""

    among: ComparisonSet
    vector: NDArray[np.float32]
    subject: str = ""


@dataclass(slots=True)
class Found:
    """Ids of stored memories with their cosines: the nearest, and the nearest of the subject."""

    near: dict[UUID, float] = field(default_factory=dict)
    of_subject: dict[UUID, float] = field(default_factory=dict)


def nearest_memories(*, asked: Sequence[Asked], embedding_model: str, limit: int) -> list[Found]:
    """Returns the `limit` nearest live memories of each and as many of its subject, in no order.

    All asked are of one team. The approximate index, with a recall below 1, is used if comparing
    everything takes longer.
    """
    found = [Found() for _ in asked]
    for (condition, graph), places in _alike(asked, embedding_model, limit).items():
        chosen = [asked[place] for place in places]
        rows = fetch_planned(
            _statement(condition, graph),
            _parameters(chosen, embedding_model, limit),
            is_ordered=graph is not None,
            also=scan_settings(breadth=max(_BREADTH, 2 * limit)) if graph else None,
        )
        for place, pk, cosine, is_of_subject in rows:
            one = found[places[place - 1]]
            (one.of_subject if is_of_subject else one.near)[pk] = cosine
    for one in found:
        one.near = dict(sorted(one.near.items(), key=lambda each: -each[1])[:limit])
    return found


def _alike(
    asked: Sequence[Asked], embedding_model: str, limit: int
) -> dict[tuple[str, SearchGraph | None], list[int]]:
    may_use_graph = bool(asked) and graph_of(
        team_id=asked[0].among.owner.team_id, embedding_model=embedding_model
    )
    graphs = {
        each: _graph(each, embedding_model, limit) if may_use_graph else None
        for each in {one.among for one in asked}
    }
    alike: dict[tuple[str, SearchGraph | None], list[int]] = defaultdict(list)
    for place, one in enumerate(asked):
        condition, _ = one.among.condition()
        alike[_OWNER.sub(r"asked.\1", condition), graphs[one.among]].append(place)
    return alike


def _graph(among: ComparisonSet, embedding_model: str, limit: int) -> SearchGraph | None:
    nothing = np.zeros(1, dtype=np.float32)
    team_id = among.owner.team_id
    return VectorSearch(team_id, *among.condition(), nothing, embedding_model, limit).graph()


def _statement(condition: str, graph: SearchGraph | None) -> str:
    exact = _SQL["exact"].format(stored=STORED, condition=condition)
    near = [exact]
    if graph is not None:
        near = [
            _SQL["approximate"].format(
                size=graph.dimensions, number=graph.number, condition=condition
            ),
            _SQL["exact"].format(stored=STORED, condition=condition + " AND graph_dimensions = 0"),
        ]
    of_subject = _SQL["of_subject"].format(stored=STORED, condition=condition)
    return _SQL["asked"] + "\nUNION ALL\n".join([*near, of_subject])


def _parameters(
    asked: Sequence[Asked], embedding_model: str, limit: int
) -> dict[str, Any]:  # Any: a parameter of any type
    owners = [each.among.owner for each in asked]
    return {
        "team": owners[0].team_id,
        "agents": [owner.agent_id for owner in owners],
        "end_users": [owner.end_user_id for owner in owners],
        "projects": [owner.project_id for owner in owners],
        "authors": [each.among.author_id for each in asked],
        "subjects": [each.subject for each in asked],
        "vectors": np.concatenate([each.vector for each in asked]),
        "size": len(asked[0].vector),
        "model": embedding_model,
        "closest": limit,
    }
