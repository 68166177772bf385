"""Messages into the raw search: what waits is embedded in batches, outside any transaction.

A thread of the process indexes what was just posted, so that no request waits for it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import numpy as np
from django.db import DatabaseError, InterfaceError, connection, transaction
from numpy.typing import NDArray
from pgvector import HalfVector

from memory.domain.talk import searchable_text
from memory.domain.text.words import name_words
from memory.selectors.conversations import spoken_messages
from memory.understanding.tools import Tools
from memory.writing.background import only_worker
from teams.errors import UnavailableError
from teams.prepared import run_prepared
from teams.tenancy import team_scope

logger = logging.getLogger(__name__)

ACTOR = "task:index_messages"
BATCH = 200
# No message's id comes before it.
_FIRST = UUID(int=0)
# What is posted within so many seconds is embedded together.
_GATHER_SECONDS = 0.02
# Where much is said, no more often than this: it takes the processor from those who ask.
_REST_SECONDS = 0.2
_IDLE_SECONDS = 5.0
# So many messages of a team at a time; a large import is the sweep's.
_MOST = 1_000

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
    """Index what waits in all teams, at most about `most` messages of each; returns how many.

    A team that another worker is at is left alone.
    """
    with connection.cursor() as cursor:
        cursor.execute(_TEAMS)
        teams = [row[0] for row in cursor.fetchall()]
    done = 0
    for team_id in teams:
        with only_worker(f"index:{team_id}") as is_mine:
            done += index_team(team_id=team_id, tools=tools, most=most) if is_mine else 0
    return done


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
    texts = {each.message_id: each.embedded for each in batch if each.text}
    vectors: dict[UUID, str] = {}
    next_vectors: dict[UUID, str] = {}
    model = next_model = ""
    if texts:
        vectors = _as_text(texts, tools.embedder.embed(list(texts.values())))
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


@dataclass(slots=True)
class _Indexer:
    """Teams in which messages wait; a thread while there are any, and a little longer."""

    _teams: dict[UUID, Tools] = field(default_factory=dict)
    _woken: threading.Condition = field(default_factory=threading.Condition)
    _thread: threading.Thread | None = None
    _is_ending: bool = False

    def end(self) -> None:
        with self._woken:
            thread, self._is_ending = self._thread, True
            self._woken.notify()
        if thread is not None:
            thread.join()
        self._is_ending = False

    def wake(self, team_id: UUID, tools: Tools) -> None:
        with self._woken:
            self._teams[team_id] = tools
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="index", daemon=True)
                self._thread.start()
            self._woken.notify()

    def _run(self) -> None:
        while True:
            with self._woken:
                self._woken.wait_for(lambda: self._teams or self._is_ending, _IDLE_SECONDS)
                if not self._teams:
                    self._thread = None
                    return
            time.sleep(_GATHER_SECONDS)
            with self._woken:
                teams, self._teams = self._teams, {}
            for team_id, tools in teams.items():
                _index(team_id, tools)
            connection.close()
            with self._woken:
                self._woken.wait_for(lambda: self._is_ending, _REST_SECONDS)


def _index(team_id: UUID, tools: Tools) -> None:
    try:
        index_team(team_id=team_id, tools=tools, most=_MOST)
    except (UnavailableError, DatabaseError, InterfaceError):
        logger.warning("New messages of team %s wait for the sweep to be indexed.", team_id)
    except Exception:
        # Whatever an embedder may raise: the thread serves other teams, the sweep this one.
        logger.exception("New messages of team %s were not indexed.", team_id)


_indexer = _Indexer()


def index_soon(*, team_id: UUID, tools: Tools) -> None:
    """Index the team's new messages in the background once the transaction commits.

    Lost with the process, as any thread; the sweep finds what still waits.
    """
    transaction.on_commit(lambda: _indexer.wake(team_id, tools))


def finish_indexing() -> None:
    """Index what waits in this process, and return once its thread has ended."""
    _indexer.end()
