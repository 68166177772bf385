"""Sketches of large teams' memories that this process keeps: made aside, never behind.

A sketch knows the position of the team's log that it was made at. What was changed since, as the
log says, is proposed for every question, and all that is proposed is read and compared by the same
statement as always: so a sketch decides neither what is visible nor what is true, and a memory is
found as soon as it is committed. A team that changes much goes without a sketch until there is a
new one.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from memory.domain.retrieval.sketch import Places, Sketch
from memory.domain.viewer import Viewer
from memory.models.querysets import visible_to_q
from memory.selectors.conditions import viewer_parameters, viewer_sql
from memory.selectors.prepared import fetch_planned
from teams.prepared import run_prepared
from teams.tenancy import team_scope

logger = logging.getLogger(__name__)

ACTOR = "system:sketches"
# More changes than these are proposed for no question, and from so many on a new sketch is due.
MOST_CHANGED = 500
_WORTH_A_NEW_ONE = 250
# No sketch is made more often; none is used for longer, whatever it was made of.
_PAUSE_SECONDS = 120.0
_LIFE_SECONDS = 3_600.0
# A team whose memories have more different audiences goes without.
_MOST_AUDIENCES = 20_000
# Of how many viewers it is known what they see, for each sketch.
_MOST_VIEWERS = 16

_POSITION = "SELECT position FROM audit_commitclock WHERE team_id = $1"
# All of it by one statement, so that its parts fit each other.
_READ = """
WITH entries AS MATERIALIZED (
    SELECT memory_id, lexemes,
        row_number() OVER (ORDER BY memory_id) - 1 AS place,
        dense_rank() OVER (ORDER BY memory_type, agent_id, end_user_id, project_id) - 1 AS audience,
        memory_type, agent_id, end_user_id, project_id,
        CASE $2::text
            WHEN embedding_model THEN embedding WHEN next_model THEN next_embedding
        END AS vector
    FROM memory_searchentry WHERE team_id = $1 AND place = 0
), size AS (
    SELECT vector_dims(vector) AS dimensions FROM entries WHERE vector IS NOT NULL LIMIT 1
)
SELECT 'entries', (SELECT dimensions FROM size)::text, string_agg(
    uuid_send(memory_id) || int4send(audience::int)
        || coalesce(substring(bit_send(binary_quantize(vector)) FROM 5), decode(repeat(
            '00', (SELECT (dimensions + 7) / 8 FROM size)), 'hex')),
    '' ORDER BY place
), NULL::uuid, NULL::uuid, NULL::uuid FROM entries WHERE (SELECT dimensions FROM size) IS NOT NULL
UNION ALL
SELECT 'word', lexeme, string_agg(int4send(place::int), '' ORDER BY place), NULL, NULL, NULL
FROM entries, unnest(tsvector_to_array(lexemes)) AS lexeme GROUP BY lexeme
UNION ALL
SELECT DISTINCT 'audience', memory_type, int4send(audience::int), agent_id, end_user_id, project_id
FROM entries
"""
_CHANGED = """
SELECT DISTINCT l.memory_id
FROM audit_logcommit c
CROSS JOIN LATERAL (
    SELECT memory_id FROM audit_memorylog l
    WHERE l.team_id = %(team)s AND l.commit_id = c.id OFFSET 0
) AS l
WHERE c.team_id = %(team)s AND c.position > %(position)s LIMIT %(most)s
"""
# The rule of visibility, asked of each audience in the place of a memory.
_VISIBLE = """
SELECT memory_searchentry.number
FROM (
    SELECT %(team)s::uuid AS team_id, given.*
    FROM unnest(
        %(numbers)s::int[], %(types)s::text[], %(agents)s::uuid[], %(users)s::uuid[],
        %(projects)s::uuid[]
    ) AS given (number, memory_type, agent_id, end_user_id, project_id)
) AS memory_searchentry
WHERE {visible}
"""
_LEXEMES = """
SELECT term, tsvector_to_array(to_tsvector('english', term)) FROM unnest($1::text[]) AS t (term)
"""


@dataclass(frozen=True, slots=True)
class Audience:
    """Whose some memories are."""

    memory_type: str
    agent_id: UUID | None
    end_user_id: UUID | None
    project_id: UUID | None


@dataclass(frozen=True, slots=True)
class TeamSketch:
    """A team's sketch for the vectors of one model, made at a position of its log."""

    sketch: Sketch
    audiences: Sequence[Audience]
    model: str
    position: int
    made_at: float
    _seen: dict[tuple[UUID | None, ...], Places | None] = field(default_factory=dict)
    _changing: threading.Lock = field(default_factory=threading.Lock)

    def visible_to(self, viewer: Viewer) -> Places | None:
        """The places of what the viewer may see, None for all; call it in the team's scope."""
        key = (viewer.agent_id, viewer.end_user_id, viewer.project_id)
        with self._changing:
            if key in self._seen:
                return self._seen[key]
        places = self._visible_to(viewer)
        with self._changing:
            self._seen[key] = places
            while len(self._seen) > _MOST_VIEWERS:
                self._seen.pop(next(iter(self._seen)))
        return places

    def _visible_to(self, viewer: Viewer) -> Places | None:
        statement = _VISIBLE.format(
            visible=viewer_sql(
                visible_to_q,
                of_agent=viewer.agent_id is not None,
                of_user=viewer.end_user_id is not None,
                of_project=viewer.project_id is not None,
            )
        )
        given = {
            **viewer_parameters(viewer),
            "numbers": list(range(len(self.audiences))),
            "types": [each.memory_type for each in self.audiences],
            "agents": [each.agent_id for each in self.audiences],
            "users": [each.end_user_id for each in self.audiences],
            "projects": [each.project_id for each in self.audiences],
        }
        is_visible = np.zeros(len(self.audiences), dtype=bool)
        for (number,) in fetch_planned(statement, given):
            is_visible[number] = True
        if is_visible.all():
            return None
        return np.flatnonzero(is_visible[self.sketch.audiences]).astype(np.int32)


@dataclass(slots=True)
class _Maker:
    """The sketches of this process, and a thread while one is being made."""

    _made: dict[UUID, TeamSketch | None] = field(default_factory=dict)
    _tried_at: dict[UUID, float] = field(default_factory=dict)
    _waiting: dict[UUID, str] = field(default_factory=dict)
    _changing: threading.Lock = field(default_factory=threading.Lock)
    _thread: threading.Thread | None = None

    def get(self, team_id: UUID, model: str) -> TeamSketch | None:
        self._drop_old()
        made = self._made.get(team_id)
        return made if made is not None and made.model == model else None

    def _drop_old(self) -> None:
        since = time.monotonic() - _LIFE_SECONDS
        with self._changing:
            for team_id, made in list(self._made.items()):
                if made is not None and made.made_at < since:
                    del self._made[team_id]

    def put(self, team_id: UUID, made: TeamSketch | None) -> None:
        with self._changing:
            self._tried_at[team_id] = time.monotonic()
            self._made.pop(team_id, None)
            if made is not None:
                self._made[team_id] = made
            while sum(len(each.sketch.ids) for each in self._made.values() if each) > (
                settings.SKETCH_MOST_MEMORIES
            ):
                self._made.pop(next(iter(self._made)))

    def ask_for(self, team_id: UUID, model: str) -> None:
        with self._changing:
            now = time.monotonic()
            if now - self._tried_at.get(team_id, -_PAUSE_SECONDS) < _PAUSE_SECONDS:
                return
            self._tried_at[team_id] = now
            self._waiting[team_id] = model
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="sketch", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        try:
            while True:
                with self._changing:
                    if not self._waiting:
                        self._thread = None
                        break
                    team_id, model = self._waiting.popitem()
                try:
                    make_sketch(team_id=team_id, embedding_model=model)
                except (DatabaseError, InterfaceError):
                    logger.warning("Searches of team %s go on without a sketch of it.", team_id)
                except Exception:
                    # Whatever it is: the thread serves other teams, and searches need no sketch.
                    logger.exception("No sketch was made of team %s.", team_id)
        finally:
            connection.close()

    def clear(self) -> None:
        with self._changing:
            self._made.clear()
            self._tried_at.clear()


_maker = _Maker()
_lexemes: dict[str, tuple[str, ...]] = {}
_MOST_LEXEMES = 20_000


def sketch_of(*, team_id: UUID, embedding_model: str) -> tuple[TeamSketch, list[UUID]] | None:
    """The team's sketch and the memories that were changed since; call it in the team's scope.

    None while there is none that holds; then one is made aside.
    """
    if not settings.SKETCH_MOST_MEMORIES:
        return None
    made = _maker.get(team_id, embedding_model)
    if made is None:
        _maker.ask_for(team_id, embedding_model)
        return None
    given = {"team": team_id, "position": made.position, "most": MOST_CHANGED + 1}
    changed = [memory_id for (memory_id,) in fetch_planned(_CHANGED, given)]
    if len(changed) > _WORTH_A_NEW_ONE:
        _maker.ask_for(team_id, embedding_model)
    return (made, changed) if len(changed) <= MOST_CHANGED else None


def make_sketch(*, team_id: UUID, embedding_model: str) -> TeamSketch | None:
    """Make the team's sketch now and keep it; None for a team too large or without a vector."""
    with team_scope(team_ids=[team_id], actor=ACTOR):
        rows = run_prepared(_POSITION, [team_id])
        position = int(rows[0][0]) if rows else 0
        ((count,),) = run_prepared(
            "SELECT count(*) FROM (SELECT FROM memory_searchentry"
            " WHERE team_id = $1 AND place = 0 LIMIT $2) AS counted",
            [team_id, settings.SKETCH_MOST_MEMORIES + 1],
        )
        made = None
        if count <= settings.SKETCH_MOST_MEMORIES:
            parts = run_prepared(_READ, [team_id, embedding_model], prepare=False)
            made = _sketch_of_parts(parts, model=embedding_model, position=position)
    _maker.put(team_id, made)
    return made


def _sketch_of_parts(
    parts: Sequence[tuple[str, str, bytes, UUID | None, UUID | None, UUID | None]],
    *,
    model: str,
    position: int,
) -> TeamSketch | None:
    words: dict[str, Places] = {}
    audiences: dict[int, Audience] = {}
    entries: tuple[int, bytes] | None = None
    for kind, text, data, agent_id, end_user_id, project_id in parts:
        if kind == "word":
            words[text] = np.frombuffer(data, dtype=">i4").astype(np.int32)
        elif kind == "audience":
            number = int.from_bytes(data, "big")
            audiences[number] = Audience(text, agent_id, end_user_id, project_id)
        elif text is not None and data is not None:
            entries = (int(text), data)
    if entries is None or len(audiences) > _MOST_AUDIENCES:
        return None
    dimensions, data = entries
    size = (dimensions + 7) // 8
    table = np.frombuffer(data, dtype=[("id", "S16"), ("audience", ">i4"), ("signs", "u1", size)])
    bits = np.zeros((len(table), 8 * -(-size // 8)), dtype=np.uint8)
    bits[:, :size] = table["signs"]
    return TeamSketch(
        sketch=Sketch(
            ids=np.ascontiguousarray(table["id"]),
            bits=np.ascontiguousarray(bits.view(np.uint64).T),
            audiences=table["audience"].astype(np.int32),
            words=words,
        ),
        audiences=[audiences[number] for number in range(len(audiences))],
        model=model,
        position=position,
        made_at=time.monotonic(),
    )


def words_of(terms: Sequence[str]) -> list[tuple[str, ...]]:
    """The words that each term becomes in PostgreSQL's index; none for a term that is no word."""
    known: dict[str, tuple[str, ...] | None] = {term: _lexemes.get(term) for term in terms}
    unknown = [term for term, words in known.items() if words is None]
    if unknown:
        if len(_lexemes) > _MOST_LEXEMES:
            _lexemes.clear()
        for term, words in run_prepared(_LEXEMES, [unknown]):
            known[term] = _lexemes[term] = tuple(words)
    return [known[term] or () for term in terms]


def forget_sketches() -> None:
    """Go without any until new ones are made."""
    _maker.clear()
