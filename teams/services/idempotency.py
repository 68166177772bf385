"""Requests that are carried out once, however often they are sent.

A row is claimed before its request runs. The first transaction of the request that writes
anything marks the row in the same transaction, so that after a crash the row says whether
anything happened; a run that lost its claim to another one cannot commit any more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connection
from django.db.models import Q, QuerySet
from django.utils import timezone

from teams.errors import ConflictError, InvalidError, UnderWayError
from teams.ids import new_id
from teams.models import IdempotentRequest
from teams.tenancy import database_now, team_scope

ACTOR = "idempotency"
HEADER = "Idempotency-Key"
MAX_KEY_CHARS = 200
_CLAIM_ATTEMPTS = 5
# Whether the transaction wrote: locks of rows alone give it a number, too, but only what writes a
# table holds this lock on it.
_HAS_WRITTEN = """
SELECT pg_current_xact_id_if_assigned() IS NOT NULL AND EXISTS (
    SELECT FROM pg_locks
    WHERE pid = pg_backend_pid() AND locktype = 'relation' AND mode = 'RowExclusiveLock'
)
"""
_UNDER_WAY = "The same request is being carried out; ask again in a moment."


@dataclass(frozen=True, slots=True)
class Answer:
    """The stored answer to a request."""

    status: int
    media_type: str
    body: str


@dataclass(frozen=True, slots=True)
class ClaimedRequest:
    """A request that this run may carry out, and nobody else while it holds the claim."""

    team_id: UUID
    row_id: UUID
    claim: UUID


def claim_request(
    *, team_id: UUID, agent_id: UUID | None, key: str, digest: bytes, now: datetime
) -> ClaimedRequest | Answer:
    """Claim the request under a key, or give back what it was answered before.

    Keys are each agent's own; `now` is the database's. Raises InvalidError for a key that is none
    or stands for another request, UnderWayError while the first one is under way, and ConflictError
    when its answer was lost.
    """
    if not 1 <= len(key) <= MAX_KEY_CHARS or not (key.isascii() and key.isprintable()):
        raise InvalidError(
            f"Send 1 to {MAX_KEY_CHARS} printable ASCII characters, such as a UUID.", field=HEADER
        )
    claimed = ClaimedRequest(team_id, new_id(), uuid4())
    lease_until = now + timedelta(seconds=settings.IDEMPOTENCY_LEASE_SECONDS)
    fresh = {
        "digest": digest,
        "claim": claimed.claim,
        "lease_until": lease_until,
        "committed_at": None,
        "status": None,
        "media_type": "",
        "body": "",
        "made_at": now,
    }
    mine = IdempotentRequest(
        id=claimed.row_id, team_id=team_id, agent_id=agent_id, key=key, **fresh
    )
    with team_scope(team_ids=[team_id], actor=ACTOR):
        row = _row_of(mine)
        if row.pk == claimed.row_id:
            return claimed
        if row.made_at >= _oldest(now):
            answer = _answer_of(row, digest=digest, now=now)
            if answer is not None:
                return answer
            # Its run is gone and wrote nothing.
            fresh["made_at"] = row.made_at
        IdempotentRequest.objects.filter(team_id=team_id, pk=row.pk).update(**fresh)
        return ClaimedRequest(team_id, row.pk, claimed.claim)


def _row_of(mine: IdempotentRequest) -> IdempotentRequest:
    whose = Q(agent_id=mine.agent_id) if mine.agent_id else Q(agent=None)
    rows = IdempotentRequest.objects.filter(whose, team_id=mine.team_id, key=mine.key)
    for _ in range(_CLAIM_ATTEMPTS):
        IdempotentRequest.objects.bulk_create([mine], ignore_conflicts=True)
        # One that was in the way may have been released since.
        row = rows.select_for_update().first()
        if row is not None:
            return row
    raise UnderWayError(_UNDER_WAY)


def mark_committed(claimed: ClaimedRequest) -> Callable[[], None]:
    """Returns the end of each transaction of the request: mark the row if it wrote."""

    def mark() -> None:
        with connection.cursor() as cursor:
            cursor.execute(_HAS_WRITTEN)
            row = cursor.fetchone()
            if not (row and row[0]):
                return
        if not _mine(claimed).update(committed_at=timezone.now()):
            raise ConflictError(
                "This took so long that the same request was begun again; this run is undone."
            )

    return mark


def finish_request(*, claimed: ClaimedRequest, answer: Answer) -> None:
    """Keep the answer for whoever sends the request again."""
    with team_scope(team_ids=[claimed.team_id], actor=ACTOR):
        _mine(claimed).update(
            status=answer.status,
            media_type=answer.media_type,
            body=answer.body,
            claim=None,
            lease_until=None,
        )


def release_request(*, claimed: ClaimedRequest) -> None:
    """Forget the request: it was refused, and sent again it is a new one."""
    with team_scope(team_ids=[claimed.team_id], actor=ACTOR):
        _mine(claimed).delete()


def abandon_request(*, claimed: ClaimedRequest) -> None:
    """End the claim of a run that failed; a retry looks at whether it wrote anything."""
    with team_scope(team_ids=[claimed.team_id], actor=ACTOR):
        _mine(claimed).update(lease_until=database_now())


def prune_requests(*, team_id: UUID, now: datetime) -> int:
    """Remove what is too old to be repeated; returns how many. Call it in the team's scope."""
    old = IdempotentRequest.objects.filter(team_id=team_id, made_at__lt=_oldest(now))
    removed, _ = old.delete()
    return removed


def _answer_of(row: IdempotentRequest, *, digest: bytes, now: datetime) -> Answer | None:
    if bytes(row.digest) != digest:
        raise InvalidError(
            "This key was sent with another request before; every request needs its own.",
            field=HEADER,
        )
    if row.status is not None:
        return Answer(row.status, row.media_type, row.body)
    if row.lease_until is not None and now < row.lease_until:
        raise UnderWayError(_UNDER_WAY)
    if row.committed_at is not None:
        raise ConflictError(
            "This request was carried out, at least in part, but its answer was lost. Look at"
            " what is stored, then send what is missing under another key."
        )
    return None


def _mine(claimed: ClaimedRequest) -> QuerySet[IdempotentRequest, IdempotentRequest]:
    return IdempotentRequest.objects.filter(
        team_id=claimed.team_id, pk=claimed.row_id, claim=claimed.claim
    )


def _oldest(now: datetime) -> datetime:
    return now - timedelta(hours=settings.IDEMPOTENCY_HOURS)
