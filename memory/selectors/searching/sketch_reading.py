"""A team's memories read from the database into a sketch, a piece at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import chain
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from django.db import connection

from memory.domain.retrieval.coarse_vectors import CoarseVectors
from memory.domain.retrieval.sketch import PINNED, Sketch
from memory.domain.retrieval.word_places import WordPlaces
from memory.selectors.searching.team_sketches import Audience, TeamSketch
from teams.prepared import run_prepared

# A team whose memories have more different audiences, or categories, goes without.
_MOST_DIFFERENT = 20_000
_AT_ONCE = 512
# Pieces of memories, and words, that are held at a time beside what is made of them.
_MEMORY_PIECES, _WORDS = 2, 50

_POSITION = "SELECT position FROM audit_commitclock WHERE team_id = $1"
# The planner is to think of all rows, not of the first ones as it does for a cursor.
_SETTINGS = "SELECT set_config('cursor_tuple_fraction', '1', true)"
# All of it by one statement, so that its parts fit each other; they come in their order.
_READ = """
WITH entries AS MATERIALIZED (
    SELECT e.memory_id, e.lexemes, row_number() OVER (ORDER BY e.memory_id) - 1 AS place,
        e.memory_type, coalesce(e.agent_id, $3) AS agent_id,
        coalesce(e.end_user_id, $3) AS end_user_id, coalesce(e.project_id, $3) AS project_id,
        m.category, m.importance + CASE WHEN m.is_pinned THEN $5::int ELSE 0 END AS weight,
        CASE $2::text
            WHEN e.embedding_model THEN e.embedding WHEN e.next_model THEN e.next_embedding
        END AS vector
    FROM memory_searchentry e JOIN memory_memory m ON m.team_id = e.team_id AND m.id = e.memory_id
    WHERE e.team_id = $1 AND e.place = 0
), audiences AS MATERIALIZED (
    SELECT row_number() OVER () - 1 AS number, * FROM (
        SELECT DISTINCT memory_type, agent_id, end_user_id, project_id FROM entries
    ) AS different
), categories AS MATERIALIZED (
    SELECT row_number() OVER () - 1 AS category_number, category
    FROM (SELECT DISTINCT category FROM entries) AS different
), size AS MATERIALIZED (
    SELECT count(*) AS memories, max(vector_dims(vector)) AS dimensions FROM entries
)
SELECT 'size', dimensions::text, int4send(memories::int), NULL::uuid, NULL::uuid, NULL::uuid
FROM size WHERE dimensions IS NOT NULL
UNION ALL
SELECT 'sample', NULL, string_agg(halfvec_send(vector), ''), NULL, NULL, NULL
FROM entries, size WHERE place % (memories / 1000 + 1) = 0 AND vector IS NOT NULL
UNION ALL
SELECT 'memories', min(place)::text, string_agg(
    uuid_send(memory_id) || int4send(number::int) || int4send(category_number::int)
        || int4send(weight)
        || coalesce(halfvec_send(vector), decode(repeat('00', 4 + 2 * dimensions), 'hex')),
    '' ORDER BY place
), NULL, NULL, NULL
FROM size, entries JOIN audiences USING (memory_type, agent_id, end_user_id, project_id)
    JOIN categories USING (category)
WHERE dimensions IS NOT NULL GROUP BY place / $4::int
UNION ALL
SELECT 'audience', memory_type, int4send(number::int), agent_id, end_user_id, project_id
FROM audiences
UNION ALL
SELECT 'category', category, int4send(category_number::int), NULL, NULL, NULL FROM categories
UNION ALL
(SELECT 'word', lexeme, string_agg(int4send(place::int), '' ORDER BY place), NULL, NULL, NULL
FROM entries, unnest(tsvector_to_array(lexemes)) AS lexeme
GROUP BY lexeme ORDER BY lexeme COLLATE "C")
"""
_NOBODY = UUID(int=0)

_Row = tuple[str, str, bytes, UUID | None, UUID | None, UUID | None]


def read_sketch(*, team_id: UUID, embedding_model: str, most_lacking: int) -> TeamSketch | None:
    """The team's sketch as of now; call it in the team's scope.

    None for a team without a vector of the model, for one where more than `most_lacking` memories
    have none, and for one with very many audiences or categories. What is under way takes little
    room beside what is made.
    """
    rows = run_prepared(_POSITION, [team_id])
    position = int(rows[0][0]) if rows else 0
    run_prepared(_SETTINGS, [])
    raw: Any = connection.connection  # Any: Django knows of no particular driver
    with (
        connection.wrap_database_errors,
        psycopg.RawServerCursor[_Row](raw, "sketch") as cursor,
    ):
        given = [team_id, embedding_model, _NOBODY, _AT_ONCE, PINNED]
        cursor.execute(_READ, given, binary=True)
        return _sketch_of(
            _rows_of(cursor), model=embedding_model, position=position, most_lacking=most_lacking
        )


def _rows_of(cursor: psycopg.RawServerCursor[_Row]) -> Iterator[_Row]:
    most = _MEMORY_PIECES
    while rows := cursor.fetchmany(most):
        yield from rows
        if rows[-1][0] == "word":
            most = _WORDS


def _sketch_of(
    rows: Iterator[_Row], *, model: str, position: int, most_lacking: int
) -> TeamSketch | None:
    size = next(rows, None)
    if size is None or size[0] != "size":
        return None
    dimensions, count = int(size[1]), int.from_bytes(size[2], "big")
    vector = ("vector", ">f2", dimensions)
    piece = np.dtype(
        [
            ("id", "S16"),
            ("audience", ">i4"),
            ("category", ">i4"),
            ("weight", ">i4"),
            ("size", ">i4"),
            vector,
        ]
    )
    sample = np.frombuffer(next(rows)[2], dtype=[("size", ">i4"), vector])
    vectors = CoarseVectors.room_for(count, sample=sample["vector"].astype(np.float32))
    ids, weights = np.empty(count, dtype="S16"), np.empty(count, dtype=np.uint8)
    numbers, filed = (np.empty(count, dtype=np.uint16) for _ in range(2))
    audiences: dict[int, Audience] = {}
    categories: dict[int, str] = {}
    lacking: list[bytes] = []
    words: Iterator[_Row] = iter(())
    for row in rows:
        kind, text, data, *owner = row
        if kind == "memories":
            some, place = np.frombuffer(data, dtype=piece), int(text)
            until = place + len(some)
            ids[place:until], weights[place:until] = some["id"], some["weight"]
            numbers[place:until], filed[place:until] = some["audience"], some["category"]
            vectors.put(place, some["vector"].astype(np.float32))
            lacking += some["id"][some["size"] == 0].tolist()
        elif kind == "audience":
            audiences[int.from_bytes(data, "big")] = Audience(text, *map(_somebody, owner))
        elif kind == "category":
            categories[int.from_bytes(data, "big")] = text
        else:
            words = chain([row], rows)
            break
        if len(lacking) > most_lacking or max(len(audiences), len(categories)) > _MOST_DIFFERENT:
            return None
    return TeamSketch(
        sketch=Sketch(
            ids=ids,
            vectors=vectors,
            audiences=numbers,
            categories=filed,
            weights=weights,
            words=WordPlaces.of((text, data) for _, text, data, *_ in words),
        ),
        audiences=[audiences[number] for number in range(len(audiences))],
        categories=[categories[number] for number in range(len(categories))],
        model=model,
        position=position,
        made_at=time.monotonic(),
        lacking=np.array(lacking, dtype="S16"),
    )


def _somebody(each: UUID | None) -> UUID | None:
    return None if each == _NOBODY else each
