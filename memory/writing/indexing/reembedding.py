"""Moving all memories to the embedding model of the settings while searches go on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection, connections, transaction
from django.db.models import QuerySet
from django.utils import timezone
from pgvector import HalfVector

from memory.models import EmbeddingState
from memory.understanding.ports import Embedder
from memory.writing.indexing.embedding_status import KINDS, EmbeddedKind, lacking_vector
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
