"""Moves all memories and messages to the embedding model of the settings while searches go on."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Q, QuerySet
from django.utils import timezone
from pgvector import HalfVector

from memory.models import EmbeddingState, Memory, MessageEntry, SearchEntry
from memory.understanding.embedders import embed_readable
from memory.understanding.ports import Embedder
from memory.writing.background import exclusively
from memory.writing.indexing.message_index import said_by
from memory.writing.indexing.vector_graphs import MOST_DIMENSIONS
from teams.errors import ConflictError
from teams.services.people import all_team_ids
from teams.tenancy import team_scope

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
_OUT_OF_GRAPH = (
    "graph_dimensions = CASE next_model WHEN %(model)s THEN 0 ELSE graph_dimensions END,"
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Kind:
    """Entries with vectors: their model, the column that names each, and the texts embedded.

    `more` is SQL for columns that change with the vector.
    """

    entries: type[SearchEntry] | type[MessageEntry]
    key: str
    texts: Callable[[UUID, Sequence[UUID]], dict[UUID, str]]
    more: str = ""

    def rows(self, **conditions: object) -> QuerySet[Any, Any]:  # Any: entries of either kind
        """Returns its entries with a vector; whoever embeds the others uses the present model."""
        rows: QuerySet[Any, Any] = self.entries.objects.filter(embedding__isnull=False)
        return rows.filter(**conditions)

    def lacking(self, model: str, **conditions: object) -> QuerySet[Any, Any]:
        """Returns its entries without a vector of the model."""
        return self.rows(**conditions).exclude(Q(embedding_model=model) | Q(next_model=model))

    def batches(
        self, team_id: UUID, rows: Callable[[], QuerySet[Any, Any]], *, size: int
    ) -> Iterator[list[UUID]]:
        """Yields the ids of the team's rows in their order, read as the batches are consumed."""
        after = _FIRST
        while True:
            with team_scope(team_ids=[team_id], actor=ACTOR):
                following = rows().filter(team_id=team_id, **{f"{self.key}__gt": after})
                ids = list(following.order_by(self.key).values_list(self.key, flat=True)[:size])
            if not ids:
                return
            yield ids
            after = ids[-1]

    def run(self, team_id: UUID, sql: str, parameters: Any) -> None:  # Any: a list or a dict
        """Runs a statement for its table."""
        table = self.entries._meta.db_table
        statement = sql.format(table=table, key=self.key, more=self.more)
        with team_scope(team_ids=[team_id], actor=ACTOR), connection.cursor() as cursor:
            cursor.execute(statement, parameters)


def _memory_texts(team_id: UUID, ids: Sequence[UUID]) -> dict[UUID, str]:
    rows = Memory.objects.filter(team_id=team_id, id__in=ids)
    return dict(rows.values_list("id", "content"))


def _message_texts(team_id: UUID, ids: Sequence[UUID]) -> dict[UUID, str]:
    return {each.message_id: each.embedded for each in said_by(team_id=team_id, ids=ids)}


_KINDS = (
    _Kind(SearchEntry, "memory_id", _memory_texts, more=_OUT_OF_GRAPH),
    _Kind(MessageEntry, "message_id", _message_texts),
)


# -- status ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EmbeddingStatus:
    """Models of the stored vectors: `active` is used by searches, `wanted` is configured.

    `lacking` memories and `lacking_messages` messages have no vector of the wanted model.
    """

    active: str
    wanted: str
    lacking: int
    lacking_messages: int = 0

    @property
    def line(self) -> str:
        """Returns one line for the operator; empty when there is nothing to do."""
        if not self.lacking and not self.lacking_messages and self.active == self.wanted:
            return ""
        messages = f" and {self.lacking_messages} messages" if self.lacking_messages else ""
        what = f"{self.lacking} memories{messages}"
        if self.active == self.wanted:
            return (
                f"{what} have no vector of {self.wanted}:"
                " run «manage.py reembed»; until then searches find them by their words alone"
            )
        return (
            f"{what} are embedded with {self.active}, the settings say"
            f" {self.wanted}: run «manage.py reembed»; until then searches by meaning use"
            f" {self.active}"
        )


def embedding_status(*, wanted: str) -> EmbeddingStatus:
    """Compares the data of all teams with the configured model.

    Without any memory the wanted model becomes the active one.
    """
    state = EmbeddingState.objects.first()
    with team_scope(team_ids=all_team_ids(), actor="embedding_status"):
        lacking = [kind.lacking(wanted).count() for kind in _KINDS]
        is_empty = not any(lacking) and not any(kind.rows().exists() for kind in _KINDS)
    active = wanted if state is None or is_empty else state.model
    return EmbeddingStatus(active, wanted, *lacking)


def log_embedding_status(*, wanted: str) -> None:
    """Logs the status, if there is something to do, when a process starts."""
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


# -- reembedding -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reembedding:
    """Results of one run; `switched_from` is empty when the model was in use already."""

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
    """Gives all memories and messages a vector of `embedder`, and makes its model active.

    Searches use the old vectors until the switch, which is one row's change, and the new ones
    after it. The old ones are dropped `grace_seconds` later; `on_wait` receives these seconds, and
    `on_unindexed`, before anything is changed, the dimensions of vectors too large for an index.
    It may be stopped at any time: the next run continues. Raises ConflictError during another run,
    and EmbeddingError when the model does not answer; searches are then as before.
    """
    with exclusively(ACTOR) as is_mine:
        if not is_mine:
            raise ConflictError("Another reembed is under way: let it finish, or stop it first.")
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
        # Entries of processes that did not know of the new model, before and within the grace.
        embedded += _pass(embedder=embedder, batch=batch, on_progress=on_progress)
        state = EmbeddingState.objects.get()
        due = state.switched_at.timestamp() + grace_seconds - time.time()
        if due > 0 and _has_old(embedder.name):
            on_wait(due)
            sleep(due)
            embedded += _pass(embedder=embedder, batch=batch, on_progress=on_progress)
        for kind in _KINDS:
            waiting = kind.rows().exclude(next_model="")
            _settle(kind, waiting, model=embedder.name, batch=batch)
        return Reembedding(embedder.name, embedded, switched_from)


def _announce(embedder: Embedder, *, batch: int) -> str:
    """Announces the new model to writers; returns the active one that it is to replace, if any."""
    state, created = EmbeddingState.objects.get_or_create(
        defaults={"model": embedder.name, "dimensions": embedder.dimensions}
    )
    if created or state.model == embedder.name:
        EmbeddingState.objects.update(next_model="")
        return ""
    # An earlier run may have been stopped after its switch: active vectors must not be overwritten.
    for kind in _KINDS:
        switched = kind.rows(next_model=state.model)
        _settle(kind, switched, model=state.model, batch=batch)
    EmbeddingState.objects.update(next_model=embedder.name)
    return state.model


def _pass(*, embedder: Embedder, batch: int, on_progress: Callable[[int], object]) -> int:
    """Embeds entries that lack a vector of the model, team by team; returns how many."""
    done = 0
    for team_id in all_team_ids():
        for kind in _KINDS:
            lacking = kind.lacking(embedder.name)
            for ids in kind.batches(team_id, lacking.all, size=batch):
                with team_scope(team_ids=[team_id], actor=ACTOR):
                    texts = kind.texts(team_id, ids)
                # Outside any transaction, as the embedder may be remote; a text never changes, but
                # an entry may be erased after its id was read.
                ids = [each for each in ids if each in texts]
                found = embed_readable(embedder, [texts[each] for each in ids])
                vectors = [HalfVector(vector).to_text() for vector in found]
                kind.run(team_id, _ADD_VECTORS, [embedder.name, ids, vectors, team_id])
                done += len(ids)
                on_progress(len(ids))
    return done


def _has_old(model: str) -> bool:
    with team_scope(team_ids=all_team_ids(), actor=ACTOR):
        return any(kind.rows(next_model=model).exists() for kind in _KINDS)


def _settle(kind: _Kind, entries: QuerySet[Any, Any], *, model: str, batch: int) -> None:
    """Replaces the old vectors by those of the active model, in short transactions."""
    for team_id in all_team_ids():
        for ids in kind.batches(team_id, entries.all, size=batch):
            kind.run(team_id, _SETTLE, {"model": model, "team": team_id, "ids": ids})
