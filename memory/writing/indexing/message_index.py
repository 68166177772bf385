"""Indexes messages for search: pending ones are embedded in batches, outside any transaction.

A thread of the process indexes new messages, so that no request waits for it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import DatabaseError, InterfaceError, connection, transaction
from numpy.typing import NDArray
from pgvector import HalfVector

from memory.domain.talk import searchable_text
from memory.domain.text.words import name_words
from memory.selectors.conversations import spoken_messages
from memory.understanding.embedders import embed_readable
from memory.understanding.tools import Tools
from memory.writing.background import exclusively, sum_over_teams
from teams.errors import UnavailableError
from teams.prepared import run_prepared
from teams.services.people import frozen_team_ids
from teams.tenancy import team_scope

logger = logging.getLogger(__name__)

ACTOR = "task:index_messages"
BATCH = 200
# Messages posted within so many seconds are embedded together.
_GATHER_SECONDS = 0.02
# A busy process indexes no more often than this: it takes the processor from requests.
_REST_SECONDS = 0.2
# So many messages of a team at a time; the sweep indexes the rest of a large import.
_MOST = 1_000

_TEAMS = "SELECT * FROM palimpsest_teams_with_waiting_messages()"
_NEXT = """
SELECT message_id FROM memory_messageentry
WHERE team_id = $1 AND is_waiting AND message_id > $2
ORDER BY message_id LIMIT $3
"""
# A second worker changes nothing: the entry waits no more.
_FILL = """
UPDATE memory_messageentry AS entry
SET is_waiting = FALSE, people = string_to_array(given.people, ' '),
    embedding = given.vector::halfvec, embedding_model = given.model,
    next_embedding = given.next_vector::halfvec, next_model = given.next_model,
    lexemes = palimpsest_lexemes(given.text)
FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
    AS given (message_id, text, people, vector, model, next_vector, next_model)
WHERE entry.team_id = $1 AND entry.message_id = given.message_id AND entry.is_waiting
"""


@dataclass(frozen=True, slots=True)
class SaidText:
    """The speaker and the searched text of a message."""

    message_id: UUID
    speaker: str
    text: str

    @property
    def embedded(self) -> str:
        """Returns the text with its speaker, as it is embedded and indexed by words."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


def said_by(*, team_id: UUID, ids: Sequence[UUID]) -> list[SaidText]:
    """Returns the searched texts of messages in the order of their ids; call it in scope."""
    rows = spoken_messages(team_id=team_id, ids=ids)
    return [
        SaidText(each.id, each.speaker, searchable_text(each.content))
        for each in sorted(rows.values())
    ]


def index_waiting(*, tools: Tools, most: int) -> int:
    """Indexes about `most` pending messages of each team; returns how many in all.

    A team that another worker indexes is left alone. An error of one team is raised after the
    others are indexed.
    """
    with connection.cursor() as cursor:
        cursor.execute(_TEAMS)
        teams = {row[0] for row in cursor.fetchall()}

    def index(team_id: UUID) -> int:
        with exclusively(f"index:{team_id}") as is_mine:
            return index_team(team_id=team_id, tools=tools, most=most) if is_mine else 0

    return sum_over_teams(teams - frozen_team_ids(), index)


def index_team(*, team_id: UUID, tools: Tools, most: int = 0) -> int:
    """Indexes about `most` pending messages of a team (0: all), oldest first.

    A text that the embedder refuses is found by its words alone. It may be stopped at any time and
    run twice at once. Raises UnavailableError when the embedder does not answer; finished batches
    stay.
    """
    done, after = 0, UUID(int=0)
    while not most or done < most:
        with team_scope(team_ids=[team_id], actor=ACTOR, is_planned_once=True):
            rows = run_prepared(_NEXT, [team_id, after, BATCH])
            batch = said_by(team_id=team_id, ids=[pk for (pk,) in rows])
        if not batch:
            break
        _fill(team_id, batch, tools)
        done += len(batch)
        after = batch[-1].message_id
        if len(batch) < BATCH:
            break
    return done


def _fill(team_id: UUID, batch: Sequence[SaidText], tools: Tools) -> None:
    texts = {each.message_id: each.embedded for each in batch if each.text}
    vectors: dict[UUID, str] = {}
    next_vectors: dict[UUID, str] = {}
    model = next_model = ""
    if texts:
        vectors = _as_text(texts, embed_readable(tools.embedder, list(texts.values())))
        model = tools.embedder.name
        next_model, following = tools.next_vectors(list(texts.values()))
        next_vectors = _as_text(texts, following)
    ids = [each.message_id for each in batch]
    columns: list[list[Any]] = [  # Any: a column of each type
        ids,
        [texts.get(each, "") for each in ids],
        [" ".join(name_words([each.speaker])) for each in batch],
        [vectors.get(each) for each in ids],
        [model if each in vectors else "" for each in ids],
        [next_vectors.get(each) for each in ids],
        [next_model if each in next_vectors else "" for each in ids],
    ]
    with team_scope(team_ids=[team_id], actor=ACTOR, is_planned_once=True):
        run_prepared(_FILL, [team_id, *columns])


def _as_text(ids: Iterable[UUID], vectors: Iterable[NDArray[np.float32] | None]) -> dict[UUID, str]:
    found = zip(ids, vectors, strict=True)
    return {each: HalfVector(vector).to_text() for each, vector in found if vector is not None}


# -- in the background -----------------------------------------------------------------------

# Teams with new messages, and the thread that indexes them.
_teams: dict[UUID, Tools] = {}
_changing = threading.Lock()
_is_ending = threading.Event()
_executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="index")


def index_soon(*, team_id: UUID, tools: Tools) -> None:
    """Indexes the team's new messages in the background once the transaction commits.

    The sweep finds what is lost with the process.
    """

    def add() -> None:
        with _changing:
            is_first = not _teams
            _teams[team_id] = tools
        if is_first:
            _executor.submit(_index_new)

    transaction.on_commit(add)


def finish_indexing() -> None:
    """Indexes the new messages of this process, and returns once that is done."""
    _is_ending.set()
    _executor.submit(lambda: None).result()
    _is_ending.clear()


def _index_new() -> None:
    time.sleep(_GATHER_SECONDS)
    with _changing:
        teams = dict(_teams)
        _teams.clear()
    for team_id, tools in teams.items():
        try:
            index_team(team_id=team_id, tools=tools, most=_MOST)
        except (UnavailableError, DatabaseError, InterfaceError):
            logger.warning("New messages of team %s wait for the sweep to be indexed.", team_id)
        except Exception:
            # Whatever an embedder may raise: the thread serves other teams, the sweep this one.
            logger.exception("New messages of team %s were not indexed.", team_id)
    connection.close()
    _is_ending.wait(_REST_SECONDS)
