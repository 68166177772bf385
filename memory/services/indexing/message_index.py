"""Messages into the raw search: what waits is embedded in batches, outside any transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from pgvector import HalfVector

from memory.clients.tools import Tools
from memory.domain.spoken_lines import searchable_text
from memory.domain.text.normalise import name_words
from memory.selectors.speakers import spoken_messages
from teams.prepared import run_prepared
from teams.tenancy import team_scope

ACTOR = "task:index_messages"
BATCH = 200
# No message's id comes before it.
_FIRST = UUID(int=0)

_TEAMS = "SELECT * FROM palimpsest_teams_with_waiting_messages()"
_NEXT = """
SELECT message_id FROM memory_messageentry
WHERE team_id = $1 AND is_waiting AND message_id > $2
ORDER BY message_id LIMIT $3
"""
# Whoever comes second changes nothing: the entry waits no more.
_FILL = """
UPDATE memory_messageentry AS entry
SET is_waiting = FALSE, people = string_to_array(given.people, ' '),
    embedding = given.vector::halfvec, embedding_model = given.model,
    next_embedding = given.next_vector::halfvec, next_model = given.next_model,
    lexemes = to_tsvector('english', given.text)
FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
    AS given (message_id, text, people, vector, model, next_vector, next_model)
WHERE entry.team_id = $1 AND entry.message_id = given.message_id AND entry.is_waiting
"""


@dataclass(frozen=True, slots=True)
class SaidText:
    """A message that is to be found: who speaks, and what of it is searched."""

    message_id: UUID
    speaker: str
    text: str

    @property
    def embedded(self) -> str:
        """What is embedded and whose words are looked up: the line with its speaker."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


def index_waiting(*, tools: Tools, most: int) -> int:
    """Index what waits in all teams, at most about `most` messages of each; returns how many."""
    with connection.cursor() as cursor:
        cursor.execute(_TEAMS)
        teams = [row[0] for row in cursor.fetchall()]
    return sum(index_team(team_id=team_id, tools=tools, most=most) for team_id in teams)


def index_team(*, team_id: UUID, tools: Tools, most: int = 0) -> int:
    """Index what waits of a team, oldest first, about `most` messages (0: all).

    It may be stopped at any time and run twice at once. Raises UnavailableError when the embedder
    does not answer; what was indexed by then stays.
    """
    done = 0
    after = _FIRST
    while not most or done < most:
        batch = _batch(team_id, after=after)
        if not batch:
            break
        _fill(team_id, batch, tools)
        done += len(batch)
        after = batch[-1].message_id
        if len(batch) < BATCH:
            break
    return done


def embedded_texts(*, team_id: UUID, ids: Sequence[UUID]) -> dict[UUID, str]:
    """What is embedded of each message; call it in the team's scope."""
    return {each.message_id: each.embedded for each in said_by(team_id=team_id, ids=ids)}


def _batch(team_id: UUID, *, after: UUID) -> list[SaidText]:
    with team_scope(team_ids=[team_id], actor=ACTOR, is_planned_once=True):
        rows = run_prepared(_NEXT, [team_id, after, BATCH])
        return said_by(team_id=team_id, ids=[pk for (pk,) in rows])


def said_by(*, team_id: UUID, ids: Sequence[UUID]) -> list[SaidText]:
    """What is searched of each message, in the order of their ids; call it in the team's scope."""
    rows = spoken_messages(team_id=team_id, ids=ids)
    return [
        SaidText(each.id, each.speaker, searchable_text(each.content))
        for each in sorted(rows.values())
    ]


def _fill(team_id: UUID, batch: Sequence[SaidText], tools: Tools) -> None:
    spoken = [each for each in batch if each.text]
    texts = [each.embedded for each in spoken]
    vectors: dict[UUID, str] = {}
    next_vectors: dict[UUID, str] = {}
    model = next_model = ""
    if texts:
        found = tools.embedder.embed(texts)
        model = tools.embedder.name
        next_model, following = tools.next_vectors(texts)
        for each, vector, next_vector in zip(spoken, found, following, strict=True):
            vectors[each.message_id] = HalfVector(vector).to_text()
            if next_vector is not None:
                next_vectors[each.message_id] = HalfVector(next_vector).to_text()
    columns: list[list[Any]] = [  # Any: a column of each type
        [each.message_id for each in batch],
        [each.embedded if each.text else "" for each in batch],
        [" ".join(name_words([each.speaker])) for each in batch],
        [vectors.get(each.message_id) for each in batch],
        [model if each.message_id in vectors else "" for each in batch],
        [next_vectors.get(each.message_id) for each in batch],
        [next_model if each.message_id in next_vectors else "" for each in batch],
    ]
    with team_scope(team_ids=[team_id], actor=ACTOR, is_planned_once=True):
        run_prepared(_FILL, [team_id, *columns])
