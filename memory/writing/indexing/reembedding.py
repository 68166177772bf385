"""Moves all memories and messages to the embedding model of the settings."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connection, connections, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from pgvector import HalfVector

from memory.models import EmbeddingState, Memory, MessageEntry, SearchEntry
from memory.understanding.ports import Embedder
from memory.writing.indexing.message_index import said_by
from memory.writing.indexing.vector_graphs import MOST_DIMENSIONS
from teams.errors import ConflictError
from teams.services.people import all_team_ids
from teams.tenancy import team_scope

logger = logging.getLogger(__name__)

_STATUS_ACTOR = "embedding_status"
_OUT_OF_GRAPH = (
    "graph_dimensions = CASE next_model WHEN %(model)s THEN 0 ELSE graph_dimensions END,"
)


@dataclass(frozen=True, slots=True)
class EmbeddedKind:
    """What has vectors: its entries, the column that names each, and the texts embedded."""

    entries: type[SearchEntry] | type[MessageEntry]
    key: str
    texts: Callable[[UUID, Sequence[UUID]], dict[UUID, str]]
    # What is set as well where a vector is replaced, as SQL.
    more: str = ""

    def rows(self, **conditions: object) -> QuerySet[Any, Any]:  # Any: entries of either kind
        """Its entries that have a vector.

        What waits for its first vector gets that of the present model from whoever embeds it.
        """
        rows: QuerySet[Any, Any] = self.entries.objects.filter(embedding__isnull=False)
        return rows.filter(**conditions)

    def statement(self, sql: str) -> str:
        """The statement for its table."""
        table = self.entries._meta.db_table
        return sql.format(table=table, key=self.key, more=self.more)


def _memory_texts(team_id: UUID, ids: Sequence[UUID]) -> dict[UUID, str]:
    rows = Memory.objects.filter(team_id=team_id, id__in=ids)
    return dict(rows.values_list("id", "content"))


def _message_texts(team_id: UUID, ids: Sequence[UUID]) -> dict[UUID, str]:
    return {each.message_id: each.embedded for each in said_by(team_id=team_id, ids=ids)}


KINDS = (
    EmbeddedKind(SearchEntry, "memory_id", _memory_texts, more=_OUT_OF_GRAPH),
    EmbeddedKind(MessageEntry, "message_id", _message_texts),
)


def lacking_vector(rows: QuerySet[Any, Any], model: str) -> QuerySet[Any, Any]:
    """Those of the entries that have no vector of the model."""
    return rows.exclude(Q(embedding_model=model) | Q(next_model=model))


@dataclass(frozen=True, slots=True)
class EmbeddingStatus:
    """Whose vectors the memories have: `active` is what searches use, `wanted` what is set.

    `lacking` memories and `lacking_messages` messages have no vector of the wanted model.
    """

    active: str
    wanted: str
    lacking: int
    lacking_messages: int = 0

    @property
    def line(self) -> str:
        """What an operator must know, in one line; empty when there is nothing to do."""
        if not self.lacking and not self.lacking_messages and self.active == self.wanted:
            return ""
        if self.active == self.wanted:
            return (
                f"{self._what} have no vector of {self.wanted}:"
                " run «manage.py reembed»; until then searches find them by their words alone"
            )
        return (
            f"{self._what} are embedded with {self.active}, the settings say"
            f" {self.wanted}: run «manage.py reembed»; until then searches by meaning use"
            f" {self.active}"
        )

    @property
    def _what(self) -> str:
        messages = f" and {self.lacking_messages} messages" if self.lacking_messages else ""
        return f"{self.lacking} memories{messages}"


def embedding_status(*, wanted: str) -> EmbeddingStatus:
    """Compare the data with the model that is set, over all teams.

    Without any memory there is nothing to compare, and the wanted model becomes the active one.
    """
    state = EmbeddingState.objects.first()
    with team_scope(team_ids=all_team_ids(), actor=_STATUS_ACTOR):
        lacking = [lacking_vector(kind.rows(), wanted).count() for kind in KINDS]
        is_empty = not any(lacking) and not any(kind.rows().exists() for kind in KINDS)
    active = wanted if state is None or is_empty else state.model
    return EmbeddingStatus(active, wanted, *lacking)


def log_embedding_status(*, wanted: str) -> None:
    """Say in the log of a starting process what an operator must know, if anything."""
    try:
        line = embedding_status(wanted=wanted).line
    except (DatabaseError, InterfaceError):
        # A server starts without its database and answers 503 until it is there.
        return
    finally:
        connection.close()
    if line:
        # An error, as the launcher shows no lesser lines to the person at the shell.
        logger.error("%s", line)


ACTOR = "command:reembed"
# Longer than a request that embedded its question or its drafts before the switch may still take.
GRACE_SECONDS = 60.0
_MOST_PASSES = 10
# No id comes before it.
_FIRST = UUID(int=0)

_ADD_VECTORS = """
UPDATE {table} AS entry
SET next_embedding = given.vector::halfvec, next_model = %s
FROM unnest(%s::uuid[], %s::text[]) AS given (id, vector)
WHERE entry.team_id = %s AND entry.{key} = given.id
"""
_SETTLE = """
UPDATE {table}
SET embedding = CASE next_model WHEN %(model)s THEN next_embedding ELSE embedding END,
    embedding_model = CASE next_model WHEN %(model)s THEN next_model ELSE embedding_model END,
    {more} next_embedding = NULL, next_model = ''
WHERE team_id = %(team)s AND {key} = ANY(%(ids)s)
"""


@dataclass(frozen=True, slots=True)
class Reembedding:
    """What one run did; `switched_from` is empty when the model was in use already."""

    model: str
    embedded: int
    switched_from: str = ""


def reembed(
    *,
    embedder: Embedder,
    batch: int = 500,
    grace_seconds: float = GRACE_SECONDS,
    on_progress: Callable[[int], object] = lambda _: None,
    on_wait: Callable[[float], object] = lambda _: None,
    on_unindexed: Callable[[int], object] = lambda _: None,
    sleep: Callable[[float], None] = time.sleep,
) -> Reembedding:
    """Give all memories and messages a vector of `embedder`, make its model active, drop old ones.

    Searches use the old vectors until the switch, which is one row's change, and the new ones
    after it. The old ones are dropped `grace_seconds` later; `on_wait` is told how many seconds
    that is going to take, and `on_unindexed`, before anything is changed, how many dimensions the
    vectors have where no index can hold so many. It may be stopped at any time: the next run goes
    on from there. Raises ConflictError while another run is under way, and EmbeddingError when the
    model does not answer; searches are then as before.
    """
    with _only_run():
        embedder.embed(["."])  # learns the size, and fails before anything is changed
        if embedder.dimensions > MOST_DIMENSIONS:
            on_unindexed(embedder.dimensions)
        switched_from = _announce(embedder, batch=batch)
        embedded = 0
        for _ in range(_MOST_PASSES):
            found = _pass(embedder=embedder, batch=batch, on_progress=on_progress)
            embedded += found
            if not found:
                break
        EmbeddingState.objects.exclude(model=embedder.name).update(
            model=embedder.name,
            dimensions=embedder.dimensions,
            next_model="",
            switched_at=timezone.now(),
        )
        # What a process wrote that did not know of the new model, before and within the grace.
        embedded += _pass(embedder=embedder, batch=batch, on_progress=on_progress)
        state = EmbeddingState.objects.get()
        due = state.switched_at.timestamp() + grace_seconds - time.time()
        if due > 0 and _has_old(embedder.name):
            on_wait(due)
            sleep(due)
            embedded += _pass(embedder=embedder, batch=batch, on_progress=on_progress)
        for kind in KINDS:
            waiting = kind.rows().exclude(next_model="")
            _settle(kind, waiting, model=embedder.name, batch=batch)
        return Reembedding(embedder.name, embedded, switched_from)


@contextmanager
def _only_run() -> Iterator[None]:
    """Hold the installation's lock; raises ConflictError when another run has it.

    On the owner's connection, in a transaction of its own: the lock ends with the process however
    that ends, and a pooler that lends connections by transaction does not lose it.
    """
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [ACTOR])
        if cursor.fetchone() != (True,):
            raise ConflictError("Another reembed is under way: let it finish, or stop it first.")
        yield


def _announce(embedder: Embedder, *, batch: int) -> str:
    """Let writers know of the new model; returns the active one that it is to replace, if any."""
    state, created = EmbeddingState.objects.get_or_create(
        defaults={"model": embedder.name, "dimensions": embedder.dimensions}
    )
    if created or state.model == embedder.name:
        EmbeddingState.objects.update(next_model="")
        return ""
    # An earlier run may have been stopped after its switch: what is active must not be overwritten.
    for kind in KINDS:
        switched = kind.rows(next_model=state.model)
        _settle(kind, switched, model=state.model, batch=batch)
    EmbeddingState.objects.update(next_model=embedder.name)
    return state.model


def _pass(*, embedder: Embedder, batch: int, on_progress: Callable[[int], object]) -> int:
    """Embed what lacks a vector of the model, team by team; returns how many there were."""
    done = 0
    for team_id in all_team_ids():
        for kind in KINDS:
            for texts in _batches(kind, team_id, model=embedder.name, size=batch):
                # Outside any transaction, as the embedder may be remote; a text never changes.
                found = embedder.embed(list(texts.values()))
                vectors = [HalfVector(vector).to_text() for vector in found]
                with team_scope(team_ids=[team_id], actor=ACTOR), connection.cursor() as cursor:
                    parameters: list[Any] = [embedder.name, list(texts), vectors, team_id]
                    cursor.execute(kind.statement(_ADD_VECTORS), parameters)
                done += len(texts)
                on_progress(len(texts))
    return done


def _batches(
    kind: EmbeddedKind, team_id: UUID, *, model: str, size: int
) -> Iterator[dict[UUID, str]]:
    """What lacks a vector of the model, each with its text."""
    after = _FIRST
    while True:
        with team_scope(team_ids=[team_id], actor=ACTOR):
            rows = lacking_vector(kind.rows(team_id=team_id), model)
            ids = _following(kind, rows, after=after, size=size)
            texts = kind.texts(team_id, ids)
        if not ids:
            return
        yield {each: texts[each] for each in ids}
        after = ids[-1]


def _following(
    kind: EmbeddedKind, rows: QuerySet[Any, Any], *, after: UUID, size: int
) -> list[UUID]:
    """The next ids of the entries, in their order."""
    following = rows.filter(**{f"{kind.key}__gt": after}).order_by(kind.key)
    return list(following.values_list(kind.key, flat=True)[:size])


def _has_old(model: str) -> bool:
    with team_scope(team_ids=all_team_ids(), actor=ACTOR):
        return any(kind.rows(next_model=model).exists() for kind in KINDS)


def _settle(kind: EmbeddedKind, entries: QuerySet[Any, Any], *, model: str, batch: int) -> None:
    """Put the active model's vectors in the place of the old ones, in short transactions."""
    for team_id in all_team_ids():
        after = _FIRST
        while True:
            with team_scope(team_ids=[team_id], actor=ACTOR), connection.cursor() as cursor:
                rows = entries.filter(team_id=team_id)
                ids = _following(kind, rows, after=after, size=batch)
                if not ids:
                    break
                parameters: dict[str, Any] = {"model": model, "team": team_id, "ids": ids}
                cursor.execute(kind.statement(_SETTLE), parameters)
            after = ids[-1]
