"""Erasing a person: what would go, and letting it go (audit/sql/erasure.sql, docs/erasure.md)."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import redis
from django.conf import settings
from django.core import signing
from django.db import DatabaseError, OperationalError, connection
from django_redis import get_redis_connection

from audit.models import Erasure
from audit.services.events import Event, record_events
from teams.errors import ConflictError, InvalidError, NotFoundError
from teams.models import EndUser
from teams.prepared import run_prepared
from teams.services.people import all_team_ids
from teams.tenancy import team_scope

REASON = "erasure of a person"
PURGE_REASON = "erasure of purged memories"
CONFIRM_SECONDS = 600
# No cache of what a memory says outlives this.
_CACHES_KEPT = timedelta(hours=25)
# Keys of Redis that are no caches, by the word after the prefix: working memory, counters, locks.
_STATE = ("task", "task-owners", "open-tasks", "errors", "together", "rate", "inbox")
_SALT = "erase-user"
_ATTEMPTS = 4

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """The content an erasure empties; `kept` are up to 100 readable memories partly based on it."""

    end_user_id: UUID
    external_id: str
    memories: int
    log_entries: int
    conversations: int
    messages: int
    compactions: int
    checkpoints: int
    items: int
    kept: tuple[UUID, ...]


def plan_erasure(*, team_id: UUID, external_id: str, actor: str) -> ErasurePlan:
    """Plans the erasure and changes nothing. Raises NotFoundError for an unknown person."""
    with team_scope(team_ids=[team_id], actor=actor):
        person = _person(team_id, external_id)
        rows = run_prepared("SELECT palimpsest_erasure_plan($1, $2)", [team_id, person.pk])
    return _plan(person, rows)


def confirmation_of(*, team_id: UUID, plan: ErasurePlan, actor: str) -> str:
    """A token with which the same caller may erase that person within 10 minutes."""
    return signing.dumps([str(team_id), str(plan.end_user_id), actor], salt=_SALT, compress=False)


def erase_confirmed(
    *, team_id: UUID, external_id: str, actor: str, token: str, reason: str = ""
) -> ErasurePlan:
    """Erases the person that the token was given for; raises NotFoundError and InvalidError."""
    with team_scope(team_ids=[team_id], actor=actor):
        person = _person(team_id, external_id)
    try:
        given = signing.loads(token, salt=_SALT, max_age=CONFIRM_SECONDS)
    except signing.SignatureExpired:
        raise InvalidError(
            "The confirmation is too old. Ask again without one, then confirm what that answers.",
            field="confirmation",
        ) from None
    except signing.BadSignature:
        given = None
    if given != [str(team_id), str(person.pk), actor]:
        raise InvalidError(
            "This confirms nothing here. Ask without one, then send what that answers, as it is,"
            " with the same key and for the same person.",
            field="confirmation",
        )
    return erase_user(team_id=team_id, external_id=external_id, actor=actor, reason=reason)


def erase_user(*, team_id: UUID, external_id: str, actor: str, reason: str = "") -> ErasurePlan:
    """Make everything that is held of the person unreadable, for good, in one transaction.

    `reason` stands in the erasure's record: name no person in it. What is written for that external
    id afterwards belongs to somebody new. Raises NotFoundError for an unknown person and
    ConflictError while writers keep coming in between.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            plan = _erase(team_id=team_id, external_id=external_id, actor=actor, reason=reason)
        except OperationalError as error:
            # Met by writers from two sides; PostgreSQL ended this one.
            state = getattr(error.__cause__, "sqlstate", None)
            if attempt == _ATTEMPTS or state not in {"40001", "40P01"}:
                raise
        else:
            _clear_caches(team_id)
            forget_statistics(team_id)
            return plan
    raise AssertionError("unreachable")


def erase_purged(*, team_id: UUID, memory_ids: Sequence[UUID], actor: str) -> int:
    """Erases the texts of purged memories, also in the log; returns how many had one left."""
    with team_scope(team_ids=[team_id], actor=actor, reason=PURGE_REASON):
        given = [team_id, list(memory_ids), PURGE_REASON]
        ((count,),) = run_prepared("SELECT palimpsest_erase_purged($1, $2, $3)", given)
    return int(count)


def forget_statistics(team_id: UUID) -> None:
    """Analyse every table that was changed, as statistics hold some values of its columns."""
    try:
        with team_scope(team_ids=[team_id], actor=REASON), connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 0")
            cursor.execute("SELECT palimpsest_forget_statistics()")
    except DatabaseError:
        # It is erased; what is left goes when the tables are next analysed.
        logger.warning("The statistics of the tables could not be renewed.", exc_info=True)


def clear_caches_of_erased(*, now: datetime) -> None:
    """Clear the caches of every team that erased something in the last 25 hours.

    Open tasks and other state that no read puts back stays: it was cleared by the erasure itself.
    """
    for team_id in all_team_ids():
        with team_scope(team_ids=[team_id], actor="task:clear_caches"):
            recent = Erasure.objects.filter(team_id=team_id, at__gte=now - _CACHES_KEPT).exists()
        if recent:
            _clear_caches(team_id, sparing=_STATE)


def _erase(*, team_id: UUID, external_id: str, actor: str, reason: str) -> ErasurePlan:
    with team_scope(team_ids=[team_id], actor=actor, reason=REASON):
        person = _person(team_id, external_id)
        with connection.cursor() as cursor:
            # As long as it takes: a person may have talked for years.
            cursor.execute("SET LOCAL statement_timeout = 0")
        given = [team_id, person.pk, reason]
        plan = _plan(person, run_prepared("SELECT palimpsest_erase_user($1, $2, $3)", given))
        figures = {name: getattr(plan, name) for name in ("memories", "log_entries", "messages")}
        record_events(
            team_id=team_id,
            events=[Event(node="erasure", op="erase", end_user_id=person.pk, meta=figures)],
        )
    return plan


def _person(team_id: UUID, external_id: str) -> EndUser:
    person = EndUser.objects.filter(team_id=team_id, external_id=external_id).first()
    if person is None:
        raise NotFoundError(f"The team knows nobody called '{external_id}'.", field="external_id")
    return person


def _plan(person: EndUser, rows: Sequence[tuple[Any, ...]]) -> ErasurePlan:  # Any: parsed JSON
    ((counts,),) = rows
    if counts is None:
        raise ConflictError("This person is erased already.")
    kept = tuple(map(UUID, counts.pop("kept")))
    return ErasurePlan(person.pk, person.external_id, kept=kept, **counts)


def _clear_caches(team_id: UUID, *, sparing: Collection[str] = ()) -> None:
    """Drop every key of Redis that names the team, and every judgement of two texts.

    Keys of the kinds to spare are left: the word after the prefix.
    """
    prefix = settings.REDIS_PREFIX
    spared = tuple(f"{prefix}:{kind}:".encode() for kind in sparing)
    try:
        client = get_redis_connection("default")
        for pattern in (f"{prefix}:*{team_id}*", f"{prefix}:judgement:*"):
            for key in client.scan_iter(pattern, count=1000):
                if not key.startswith(spared):
                    client.delete(key)
    except redis.RedisError:
        logger.warning("The caches of team %s are cleared later: Redis is away.", team_id)
