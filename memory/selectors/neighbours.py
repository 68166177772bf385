"""What a new memory must be compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import Case, Func, Q, When
from numpy.typing import NDArray
from pgvector.django import HalfVectorField

from memory.domain.audience import OF_AN_AGENT, OPEN, TEAM_WIDE, Audience, Reach
from memory.models import Memory, SearchEntry
from memory.models.querysets import MemoryQuerySet, SearchEntryQuerySet
from memory.models.search import Place
from memory.selectors.conditions import as_sql, stand_ins
from memory.selectors.vectors import VectorSearch

# Rows of one read of vectors: 10 MB of half precision numbers of 256 dimensions.
CHUNK = 20_000
# pgvector's binary form of a halfvec: dimensions and an unused field, 16 bits each, then numbers.
_HEADER = 4


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A live memory near a new one: its cosine similarity (-1 to 1) and who else sees it."""

    memory: Memory
    similarity: float
    reach: Reach = Reach.SAME


@dataclass(frozen=True, slots=True)
class Company:
    """The memories a draft is compared with: those of its audience, and some beyond.

    Wider ones, which all who will see the draft see as well; and, for what every agent sees,
    narrower ones, whose readers are all going to see the draft: those of `author_id`, the agent
    that learned it, or of all agents where none did. An agent learns nothing of another's so.
    """

    audience: Audience
    author_id: UUID | None = None

    def as_q(self) -> Q:
        """The rows, whatever their status, by columns that memories and search entries share."""
        audience = self.audience
        rows = Q(team_id=audience.team_id) & _is("end_user_id", audience.end_user_id)
        in_project = _is("project_id", audience.project_id)
        if audience.kind != OPEN:
            same_agent = _is("agent_id", audience.agent_id)
            return rows & in_project & same_agent & Q(memory_type=audience.kind)
        rows &= ~Q(memory_type__in=OF_AN_AGENT)
        seen_by_all = Q(agent_id__isnull=True) | Q(memory_type__in=TEAM_WIDE)
        in_project |= Q(project_id__isnull=True)
        if audience.agent_id is not None:
            return rows & in_project & (seen_by_all | Q(agent_id=audience.agent_id))
        of_agents = Q(agent_id__isnull=False) & ~Q(memory_type__in=TEAM_WIDE)
        if self.author_id is not None:
            of_agents &= Q(agent_id=self.author_id)
        if audience.project_id is not None:
            of_agents &= Q(project_id=audience.project_id)
        return rows & (in_project & seen_by_all | of_agents)

    def condition(self) -> tuple[str, dict[str, UUID]]:
        """The search entries of its live memories as SQL with its parameters."""
        audience = self.audience
        given = {
            "agent": audience.agent_id,
            "end_user": audience.end_user_id,
            "project": audience.project_id,
            "author": self.author_id,
        }
        parameters = {name: value for name, value in given.items() if value is not None}
        sql = _condition(audience.kind, frozenset(parameters))
        return sql, {**parameters, "team": audience.team_id}

    def memories(self) -> MemoryQuerySet:
        """Its live memories."""
        return Memory.objects.live().filter(self.as_q())

    def entries(self) -> SearchEntryQuerySet:
        """The search entries of its live memories."""
        return SearchEntry.objects.filter(self.as_q(), place__lte=Place.COLD)


def _is(column: str, value: UUID | None) -> Q:
    return Q(**{f"{column}__isnull": True}) if value is None else Q(**{column: value})


@cache
def _condition(kind: str, named: frozenset[str]) -> str:
    stands = stand_ins("team", "agent", "end_user", "project", "author")
    audience = Audience(
        team_id=stands["team"],
        kind=kind,
        agent_id=stands["agent"] if "agent" in named else None,
        end_user_id=stands["end_user"] if "end_user" in named else None,
        project_id=stands["project"] if "project" in named else None,
    )
    company = Company(audience, stands["author"] if "author" in named else None)
    live = Q(place__lte=Place.COLD)
    return as_sql(company.as_q() & live, parameters=stands)


def nearest(
    *, company: Company, vector: NDArray[np.float32], embedding_model: str, limit: int
) -> list[tuple[UUID, float]]:
    """The ids of the `limit` nearest memories of the company with their cosines, nearest first."""
    condition, parameters = company.condition()
    return VectorSearch(
        company.audience.team_id, condition, parameters, vector, embedding_model, limit
    ).fetch()


def nearest_of_subject(
    *,
    company: Company,
    subject: str,
    vector: NDArray[np.float32],
    embedding_model: str,
    limit: int,
) -> list[tuple[UUID, float]]:
    """The same among the memories of one subject."""
    ids = list(company.memories().filter(subject=subject).values_list("id", flat=True))
    if not ids:
        return []
    return VectorSearch(
        company.audience.team_id,
        "memory_id = ANY(%(of_subject)s)",
        {"of_subject": ids},
        vector,
        embedding_model,
        limit,
        is_exact=True,
    ).fetch()


def count_up_to(*, company: Company, most: int) -> int:
    """How many memories the company has, counted no further than `most`."""
    return company.entries()[:most].count()


def ids_of_subjects(*, company: Company, subjects: Sequence[str]) -> dict[UUID, str]:
    """The subject of each memory of the company that has one of those."""
    rows = company.memories().filter(subject__in=subjects)
    return dict(rows.values_list("id", "subject"))


def all_vectors(
    *, company: Company, embedding_model: str
) -> Iterator[tuple[list[UUID], NDArray[np.float32]]]:
    """All vectors of the company in chunks: ids, and an array of shape (ids, dimensions).

    Read in the binary form: as text they would take ten times as long.
    """
    stored = Case(
        When(embedding_model=embedding_model, then="embedding"),
        When(next_model=embedding_model, then="next_embedding"),
        output_field=HalfVectorField(),
    )
    rows = (
        company.entries()
        .filter(Q(embedding_model=embedding_model) | Q(next_model=embedding_model))
        .annotate(sent=Func(stored, function="halfvec_send"))
        .order_by()
        .values_list("memory_id", "sent")
    )
    statement, parameters = rows.query.sql_with_params()
    raw = connection.connection
    with raw.cursor(name="vectors", binary=True) as cursor:
        cursor.execute(statement, parameters)
        while batch := cursor.fetchmany(CHUNK):
            sent = b"".join(row[1][_HEADER:] for row in batch)
            numbers = np.frombuffer(sent, dtype=">f2").reshape(len(batch), -1)
            yield [row[0] for row in batch], numbers.astype(np.float32)
