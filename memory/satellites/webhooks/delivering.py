"""Sending what is due to webhooks: one run at a time, with a thread for each of its endpoints.

What waits is a row, marked after it was sent: a worker that dies in between leaves it to be sent
again under the same id. Of one subject the earliest row is sent first, and while it fails the later
ones wait. An endpoint that does not answer rests as a whole; one that answers with an error is
sent its other events meanwhile.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet

from memory.domain.audience import OF_AN_AGENT
from memory.domain.types import DELETED
from memory.models import Memory
from memory.satellites.webhooks import calls as webhook_calls
from memory.satellites.webhooks.calls import (
    PATIENCE,
    WebhookAnswer,
    is_given_up,
    is_new_start,
    pause_before_next,
    signed_headers,
)
from memory.satellites.webhooks.models import WebhookDelivery, WebhookEndpoint
from memory.writing.background import exclusively, pause_after
from teams.models import Agent, EndUser, Project
from teams.prepared import run_prepared
from teams.services.people import all_team_ids, frozen_team_ids
from teams.tenancy import database_now, give_back_connection, team_scope

ACTOR = "task:webhooks"
_THREADS = 16
# A receiver that takes longer for a message gets its next one in the next run.
_SLOW_SECONDS = 1.0
_ENDPOINTS_A_RUN = 500
_NO_KEY = "The server's key was changed: rotate the secret of this webhook."
# Like no answer at all: the receiver is overloaded or away.
_AWAY = frozenset({429, 502, 503, 504})
_State = WebhookDelivery.State
# By the field of an event's data that has the id, where more is to be found.
_LINKS = {
    "memory": "/v1/memories/{}",
    "memory_a": "/v1/memories/{}",
    "memory_b": "/v1/memories/{}",
    "run": "/v1/consolidate/runs/{}",
}
_NAMES: dict[str, tuple[str, QuerySet[Any], str]] = {  # Any: rows of three models
    "agent_id": ("agent", Agent.objects.all(), "slug"),
    "end_user_id": ("user", EndUser.objects.all(), "external_id"),
    "project_id": ("project", Project.objects.all(), "slug"),
}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Message:
    seq: int
    url: str
    headers: dict[str, str]
    body: bytes


def deliver_waiting(*, seconds: float) -> int:
    """Send what is due to all endpoints in turn; returns how many events were taken.

    None are while another run of the installation is under way, so slow receivers hold one worker.
    After `seconds` nothing more is begun; what was begun ends within WEBHOOK_TIMEOUT_SECONDS.
    """
    ends = time.monotonic() + seconds

    def serve(found: tuple[UUID, UUID]) -> int:
        left = ends - time.monotonic()
        try:
            return deliver_to(team_id=found[0], endpoint_id=found[1], seconds=left)
        except (DatabaseError, InterfaceError):
            logger.warning("Webhook %s was not served.", found[1], exc_info=True)
            return 0
        finally:
            connection.close()

    found = run_prepared(
        "SELECT team_id, endpoint_id FROM palimpsest_due_webhooks($1)", [_ENDPOINTS_A_RUN]
    )
    # What became of a delivery of a frozen team could not be noted.
    frozen = frozen_team_ids() if found else set()
    due = [(team_id, endpoint_id) for team_id, endpoint_id in found if team_id not in frozen]
    if not due:
        return 0
    with exclusively(ACTOR) as is_only_run:
        if not is_only_run:
            return 0
        with ThreadPoolExecutor(min(_THREADS, len(due)), thread_name_prefix="webhook") as threads:
            return sum(threads.map(serve, due))


def deliver_to(
    *,
    team_id: UUID,
    endpoint_id: UUID,
    seconds: float,
    clock: Callable[[], datetime] = database_now,
) -> int:
    """Send what is due to one endpoint for `seconds`; return how many events it took.

    It leaves a receiver that took more than a second for a message. Call it outside any
    transaction, and with the lock of delivery runs.
    """
    ends = time.monotonic() + seconds
    taken = 0
    while time.monotonic() < ends:
        message = _next(team_id, endpoint_id, clock())
        if message is None:
            break
        give_back_connection()
        sent_at = time.monotonic()
        answer = _sent(message)
        is_slow = time.monotonic() - sent_at > _SLOW_SECONDS
        if not _noted(team_id, endpoint_id, message, answer, clock()):
            break
        taken += answer.is_taken
        if is_slow:
            break
    return taken


def prune_deliveries(*, now: datetime) -> None:
    """Remove what ended more than WEBHOOK_DAYS ago."""
    before = now - timedelta(days=settings.WEBHOOK_DAYS)
    for team_id in all_team_ids():
        with team_scope(team_ids=[team_id], actor=ACTOR):
            rows = WebhookDelivery.objects.filter(team_id=team_id, attempted_at__lt=before)
            rows.exclude(state=_State.WAITING).delete()


def undelivered_by_state() -> dict[str, int]:
    """Counts the pending and the dead deliveries of the scope's teams."""
    states = (_State.WAITING, _State.DEAD)
    rows = WebhookDelivery.objects.order_by().filter(state__in=states)
    found = dict(rows.values_list("state").annotate(count=Count("*")))
    return {state.value: found.get(state, 0) for state in states}


def _rows(team_id: UUID, endpoint_id: UUID) -> QuerySet[WebhookEndpoint, WebhookEndpoint]:
    return WebhookEndpoint.objects.filter(team_id=team_id, id=endpoint_id)


def _next(team_id: UUID, endpoint_id: UUID, now: datetime) -> _Message | None:
    with team_scope(team_ids=[team_id], actor=ACTOR):
        is_rested = Q(rests_until=None) | Q(rests_until__lte=now)
        endpoint = _rows(team_id, endpoint_id).filter(is_rested, is_enabled=True).first()
        if endpoint is None:
            return None
        waiting = WebhookDelivery.objects.filter(
            team_id=team_id, endpoint_id=endpoint_id, state=_State.WAITING
        )
        earlier = waiting.filter(subject_id=OuterRef("subject_id"), seq__lt=OuterRef("seq"))
        due = waiting.filter(~Exists(earlier), due_at__lte=now)
        delivery = due.order_by("due_at", "seq").first()
        if delivery is None:
            return None
        body = payload_of(delivery=delivery, endpoint=endpoint)
        headers = signed_headers(endpoint=endpoint, message_id=str(delivery.id), body=body, now=now)
        return _Message(delivery.seq, endpoint.url, headers, body)


def payload_of(*, delivery: WebhookDelivery, endpoint: WebhookEndpoint) -> bytes:
    """The body of the message as JSON: type, timestamp and data; call it in the team's scope.

    `data` is made of ids at the moment of sending, so that nothing that was erased or deleted
    meanwhile is sent. It names agents, people and projects as the API does, and has the text of a
    memory where the endpoint asked for it, the memory is not deleted, and it is not an agent's own.
    """
    data = dict(delivery.data)
    for field, (word, rows, name) in _NAMES.items():
        if field in data:
            row_id = data.pop(field)
            named = rows.filter(team_id=delivery.team_id, pk=row_id).values_list(name, flat=True)
            data[word] = named.first() if row_id else None
    links = {name: path.format(data[name]) for name, path in _LINKS.items() if data.get(name)}
    if links:
        data["links"] = links
    if endpoint.include_text and delivery.type.startswith("memory.") and "memory" in data:
        data["text"] = _text_of(delivery.team_id, data["memory"])
    event = {"type": delivery.type, "timestamp": delivery.happened_at, "data": data}
    return orjson.dumps(event, option=orjson.OPT_UTC_Z)


def _text_of(team_id: UUID, memory_id: str) -> str | None:
    rows = Memory.objects.filter(team_id=team_id, pk=memory_id).exclude(status__in=DELETED)
    return rows.exclude(memory_type__in=OF_AN_AGENT).values_list("content", flat=True).first()


def _sent(message: _Message) -> WebhookAnswer:
    if not message.headers:
        return WebhookAnswer(None, _NO_KEY)
    return webhook_calls.post(
        url=message.url,
        headers=message.headers,
        body=message.body,
        seconds=settings.WEBHOOK_TIMEOUT_SECONDS,
        allow_private=settings.WEBHOOKS_TO_PRIVATE_ADDRESSES,
    )


def _noted(
    team_id: UUID, endpoint_id: UUID, message: _Message, answer: WebhookAnswer, now: datetime
) -> bool:
    """Note what became of the message; returns whether the next one may be sent."""
    with team_scope(team_ids=[team_id], actor=ACTOR):
        mine = _rows(team_id, endpoint_id)
        # Before the delivery, as who removes the endpoint locks it.
        endpoint = mine.select_for_update(no_key=True).first()
        rows = WebhookDelivery.objects.filter(team_id=team_id, seq=message.seq)
        delivery = rows.filter(state=_State.WAITING).first()
        if endpoint is None or delivery is None:
            return False  # removed
        tried = {"attempts": F("attempts") + 1, "attempted_at": now, "status_code": answer.status}
        if answer.is_taken:
            rows.update(state=_State.DELIVERED, error="", **tried)
            if endpoint.failures:
                mine.update(failures=0, failing_since=None)
            return True
        failures = delivery.attempts + 1
        pause = pause_before_next(attempts=failures, chance=random.random())  # noqa: S311
        last = delivery.attempted_at if delivery.attempts else None
        is_first = is_new_start(last=last, now=now)
        give_up_at = now + PATIENCE if is_first else delivery.give_up_at
        has_ended = is_given_up(failures=failures, since=give_up_at - PATIENCE, now=now)
        state = _State.DEAD if has_ended else _State.WAITING
        rows.update(
            state=state, due_at=now + pause, give_up_at=give_up_at, error=_words(answer), **tried
        )
        return _goes_on(endpoint, delivery, answer, now)


def _goes_on(
    endpoint: WebhookEndpoint, delivery: WebhookDelivery, answer: WebhookAnswer, now: datetime
) -> bool:
    """Note a failure of the endpoint: it goes on, rests, or is disabled."""
    mine = _rows(endpoint.team_id, endpoint.pk)
    since, failures = endpoint.failing_since or now, endpoint.failures + 1
    is_over = is_given_up(failures=failures, since=since, now=now)
    if is_over and is_new_start(last=_attempt_before(delivery), now=now):
        since, failures, is_over = now, 1, False
    failed = {"failures": failures, "failing_since": since}
    is_gone = answer.status == HTTPStatus.GONE
    if is_gone or is_over:
        why = "It answered 410 Gone" if is_gone else f"It failed for {PATIENCE.days} days on end"
        note = f"{why}, last on {now:%Y-%m-%d %H:%M} UTC: {_words(answer)}"
        mine.update(is_enabled=False, note=note[:300], rests_until=None, **failed)
        WebhookDelivery.objects.filter(
            team_id=endpoint.team_id, endpoint_id=endpoint.pk, state=_State.WAITING
        ).update(state=_State.DEAD, error="The webhook was disabled.", attempted_at=now)
        return False
    if answer.status is None or answer.status in _AWAY:
        mine.update(rests_until=now + pause_after(failures), **failed)
        return False
    mine.update(**failed)
    return True


def _attempt_before(delivery: WebhookDelivery) -> datetime | None:
    """Returns the time of the endpoint's last failure before this attempt."""
    rows = WebhookDelivery.objects.filter(
        team_id=delivery.team_id, endpoint_id=delivery.endpoint_id
    )
    others = rows.exclude(state=_State.DELIVERED).exclude(seq=delivery.seq)
    last = others.aggregate(last=Max("attempted_at"))["last"]
    return max((each for each in (last, delivery.attempted_at) if each), default=None)


def _words(answer: WebhookAnswer) -> str:
    if answer.status is None:
        return answer.error
    if 300 <= answer.status < 400:
        return f"It leads to another address (HTTP {answer.status}); enter that one."
    return f"It answered HTTP {answer.status}."
