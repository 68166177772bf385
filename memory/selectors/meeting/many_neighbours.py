"""The nearest memories of many new ones by few statements, and the vectors of whole companies."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import BinaryField, Case, Func, Q, When
from numpy.typing import NDArray
from pgvector.django import HalfVectorField

from memory.models import SearchGraph
from memory.selectors.meeting.neighbours import Company
from memory.selectors.prepared import fetch_planned
from memory.selectors.searching.vectors import STORED, scan_settings

Near = list[tuple[UUID, float]]

# Rows of one read of vectors: few enough that their cosines with a batch stay a few megabytes.
CHUNK = 2_000
_NARROW = 48
_ID = 16
# Behind the id, pgvector's binary form of a halfvec: dimensions and an unused field of 16 bits
# each, then the numbers.
_HEADER = 4
# What each sixteen bits as they are sent stand for: looked up, it takes a third of the time.
_HALVES = np.arange(2**16, dtype=np.uint16).view(">f2").astype(np.float32)
_OWNER = re.compile(r"%\((agent|end_user|project|author)\)s")

_ASKED = """
WITH asked AS MATERIALIZED (
    SELECT given.place, given.agent, given.end_user, given.project, given.author, given.subject,
        (%(vectors)s::float4[])[(given.place - 1) * %(size)s + 1 : given.place * %(size)s]::halfvec
        AS vector
    FROM unnest(%(agents)s::uuid[], %(end_users)s::uuid[], %(projects)s::uuid[],
        %(authors)s::uuid[], %(subjects)s::text[]) WITH ORDINALITY
        AS given (agent, end_user, project, author, subject, place)
)
"""
# Each asks for its own, so that an index leads to what an owner has, however many there are.
_EXACT = """
SELECT asked.place::integer, near.memory_id, -near.product
FROM asked CROSS JOIN LATERAL (
    SELECT memory_id, {stored} <#> asked.vector AS product
    FROM {among}
    WHERE memory_searchentry.team_id = %(team)s AND {condition}
        AND (embedding_model = %(model)s OR next_model = %(model)s)
    ORDER BY product LIMIT %(closest)s
) AS near
"""
_ENTRIES = "memory_searchentry"
# By the index of the subjects of live memories, which must be named as it names them.
_OF_SUBJECT = """(
    SELECT id FROM memory_memory
    WHERE team_id = %(team)s AND subject = asked.subject AND subject <> ''
        AND status IN ('active', 'disputed')
    OFFSET 0
) AS of_subject JOIN memory_searchentry ON memory_id = of_subject.id
"""
_INSIDE = """
SELECT asked.place::integer, near.memory_id, -near.product
FROM asked CROSS JOIN LATERAL (
    SELECT memory_id, embedding::halfvec({size}) <#> asked.vector::halfvec({size}) AS product
    FROM memory_searchentry
    WHERE team_id = %(team)s AND {condition}
        AND graph_dimensions = {size} AND graph_number = {number} AND embedding_model = %(model)s
    ORDER BY product LIMIT %(closest)s
) AS near
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """A new memory whose neighbours are asked for: of which company and, perhaps, subject."""

    company: Company
    vector: NDArray[np.float32]
    subject: str = ""


def nearest_of_many(*, asked: Sequence[Asked], embedding_model: str, limit: int) -> list[Near]:
    """For each the ids of its `limit` nearest memories with their cosines, in no order; exact."""
    return _by_shape(asked, embedding_model, limit, among=_ENTRIES)


def nearest_of_subjects(*, asked: Sequence[Asked], embedding_model: str, limit: int) -> list[Near]:
    """The same among the memories of each one's subject, which none may lack."""
    return _by_shape(asked, embedding_model, limit, among=_OF_SUBJECT)


def nearest_in_graph(
    *,
    graph: SearchGraph,
    asked: Sequence[Asked],
    embedding_model: str,
    limit: int,
    with_outside: bool,
) -> list[Near]:
    """The same as `nearest_of_many` among those that the team's approximate index holds.

    All asked are of one company: the index is taken for what is known to be large. With
    `with_outside` as many more of those that no approximate index holds yet, compared exactly.
    """
    condition, parameters = asked[0].company.condition()
    inside = _INSIDE.format(condition=condition, size=graph.dimensions, number=graph.number)
    if with_outside:
        inside += "UNION ALL" + _exact(condition + " AND graph_dimensions = 0", among=_ENTRIES)
    rows = fetch_planned(
        _ASKED + inside,
        parameters | _parameters(asked, embedding_model, limit),
        is_ordered=True,
        # A draft wants few of them: so broad a walk misses two in a hundred of the three nearest.
        also=scan_settings(breadth=max(_NARROW, 2 * limit)),
    )
    found: list[Near] = [[] for _ in asked]
    for place, pk, cosine in rows:
        found[place - 1].append((pk, cosine))
    return found


def all_vectors(
    *,
    company: Company,
    embedding_model: str,
    only: Sequence[UUID] | None = None,
    outside_graph: bool = False,
    chunk: int = CHUNK,
) -> Iterator[tuple[list[bytes], NDArray[np.float32]]]:
    """All vectors of the company, `chunk` at a time: ids as bytes, and an array (ids, dimensions).

    Read in the binary form: as text they would take ten times as long, and ids as objects as long
    as the vectors. With `only` those memories alone; with `outside_graph` those that no approximate
    index holds yet.
    """
    stored = Case(
        When(embedding_model=embedding_model, then="embedding"),
        When(next_model=embedding_model, then="next_embedding"),
        output_field=HalfVectorField(),
    )
    rows = company.entries().filter(
        Q(embedding_model=embedding_model) | Q(next_model=embedding_model)
    )
    if only is not None:
        rows = rows.filter(memory__in=only)
    if outside_graph:
        rows = rows.filter(graph_dimensions=0)
    sent = Func(
        Func("memory_id", function="uuid_send"),
        Func(stored, function="halfvec_send"),
        template="%(expressions)s",
        arg_joiner=" || ",
        output_field=BinaryField(),
    )
    statement, parameters = (
        rows.annotate(sent=sent).order_by().values_list("sent").query.sql_with_params()
    )
    raw = connection.connection
    with raw.cursor(name="vectors", binary=True) as cursor:
        cursor.execute(statement, parameters)
        while batch := cursor.fetchmany(chunk):
            width = len(batch[0][0])
            read = np.frombuffer(b"".join([row[0] for row in batch]), dtype=np.uint8)
            numbers = read.reshape(-1, width)[:, _ID + _HEADER :]
            halves = np.ascontiguousarray(numbers).view(np.uint16)
            yield [row[0][:_ID] for row in batch], _HALVES.take(halves)


def _by_shape(
    asked: Sequence[Asked], embedding_model: str, limit: int, *, among: str
) -> list[Near]:
    """One statement for those whose companies are told by the same condition."""
    found: list[Near] = [[] for _ in asked]
    for condition, places in _shapes([each.company for each in asked]).items():
        statement = _ASKED + _exact(condition, among=among)
        alike = [asked[place] for place in places]
        for place, pk, cosine in fetch_planned(
            statement, _parameters(alike, embedding_model, limit)
        ):
            found[places[place - 1]].append((pk, cosine))
    return found


def _exact(condition: str, *, among: str) -> str:
    return _EXACT.format(stored=STORED, among=among, condition=condition)


def _shapes(companies: Sequence[Company]) -> dict[str, list[int]]:
    """The places of the companies by their condition, in which each asks for its own owners."""
    shapes: dict[str, list[int]] = defaultdict(list)
    for place, company in enumerate(companies):
        condition, _ = company.condition()
        shapes[_OWNER.sub(r"asked.\1", condition)].append(place)
    return shapes


def _parameters(asked: Sequence[Asked], embedding_model: str, limit: int) -> dict[str, Any]:
    audiences = [each.company.audience for each in asked]
    return {
        "team": audiences[0].team_id,
        "agents": [audience.agent_id for audience in audiences],
        "end_users": [audience.end_user_id for audience in audiences],
        "projects": [audience.project_id for audience in audiences],
        "authors": [each.company.author_id for each in asked],
        "subjects": [each.subject for each in asked],
        "vectors": np.concatenate([each.vector for each in asked]),
        "size": len(asked[0].vector),
        "model": embedding_model,
        "closest": limit,
    }
