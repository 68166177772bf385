"""The webhooks of a team: set up, changed and tested, their events announced and replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import orjson
from django.conf import settings
from django.db import connection
from django.db.models import QuerySet

from memory.satellites.webhooks.calls import (
    OVERLAP,
    PATIENCE,
    new_secret,
    problem_with_target,
    secret_of,
)
from memory.satellites.webhooks.models import (
    TEST_EVENT,
    WEBHOOK_EVENTS,
    WebhookDelivery,
    WebhookEndpoint,
)
from teams.errors import ConflictError, InvalidError, NotFoundError
from teams.ids import new_id
from teams.prepared import run_prepared
from teams.tenancy import database_now, hold_lock

MOST_ENDPOINTS = 20
_ANNOUNCE = "SELECT palimpsest_announce($1, $2, $3, $4::jsonb, $5)"
_State = WebhookDelivery.State
# What is sent again comes behind what was announced since, in the order that it had.
_TO_THE_END = """
WITH ended AS MATERIALIZED (
    SELECT seq FROM teams_webhookdelivery
    WHERE team_id = %s AND endpoint_id = %s AND seq = ANY (%s) ORDER BY seq
), moved AS MATERIALIZED (
    SELECT seq, nextval(pg_get_serial_sequence('teams_webhookdelivery', 'seq')) AS place FROM ended
)
UPDATE teams_webhookdelivery d SET seq = moved.place FROM moved
WHERE d.team_id = %s AND d.seq = moved.seq
"""


@dataclass(frozen=True, slots=True)
class EndpointWithSecret:
    """An endpoint with its new secret, which is shown now and never again."""

    endpoint: WebhookEndpoint
    secret: str


# Each of these is to be called in the team's scope.


def announce(
    *, team_id: UUID, event: str, subject_id: UUID, data: Mapping[str, object], once: str
) -> None:
    """Queue an event, in the transaction of its change, for the endpoints that chose it.

    `once` names the event: announced again it is not sent again. `data` holds ids and figures.
    """
    given = [team_id, event, subject_id, orjson.dumps(dict(data), default=str).decode(), once]
    run_prepared(_ANNOUNCE, given)


def create_endpoint(
    *,
    team_id: UUID,
    url: str,
    events: Sequence[str],
    name: str = "",
    include_text: bool = False,
) -> EndpointWithSecret:
    """Set an endpoint up. Raises InvalidError for an address or event that cannot be, and
    ConflictError where the team has `MOST_ENDPOINTS`."""
    hold_lock(f"webhooks|{team_id}")
    require_room(team_id=team_id)
    check_url(url)
    kept = new_secret()
    endpoint = WebhookEndpoint.objects.create(
        team_id=team_id,
        name=name,
        url=url,
        events=_known(events),
        include_text=include_text,
        secret=kept,
    )
    return EndpointWithSecret(endpoint, str(secret_of(kept)))


def require_room(*, team_id: UUID) -> None:
    """Raise ConflictError where the team has `MOST_ENDPOINTS`."""
    if WebhookEndpoint.objects.filter(team_id=team_id).count() >= MOST_ENDPOINTS:
        raise ConflictError(f"A team has {MOST_ENDPOINTS} webhooks at most; delete one first.")


def endpoint_of(*, team_id: UUID, endpoint_id: UUID) -> WebhookEndpoint:
    """The team's endpoint of that id; raises NotFoundError."""
    found = WebhookEndpoint.objects.filter(team_id=team_id, id=endpoint_id).first()
    if found is None:
        raise NotFoundError("There is no such webhook.")
    return found


def change_endpoint(*, endpoint: WebhookEndpoint, changes: Mapping[str, object]) -> WebhookEndpoint:
    """Set name, url, events, include_text or is_enabled; what is enabled again starts afresh.

    Raises InvalidError as `create_endpoint` does. What waits is sent at once to a new address, and
    when it is enabled again, and is tried for three days anew.
    """
    wanted = dict(changes)
    if "url" in wanted:
        check_url(str(wanted["url"]))
    if isinstance(events := wanted.get("events"), list):
        wanted["events"] = _known(events)
    is_enabling = bool(wanted.get("is_enabled")) and not endpoint.is_enabled
    is_new_address = wanted.get("url", endpoint.url) != endpoint.url
    if is_enabling:
        wanted["note"] = ""
    if is_enabling or is_new_address:
        wanted |= {"failures": 0, "failing_since": None}
    if wanted:
        _rows(endpoint).update(**wanted)
    if is_enabling or is_new_address:
        waiting = WebhookDelivery.objects.filter(
            team_id=endpoint.team_id, endpoint=endpoint, state=_State.WAITING
        )
        _try_now(endpoint, waiting, now=database_now())
    return endpoint_of(team_id=endpoint.team_id, endpoint_id=endpoint.pk)


def delete_endpoint(*, endpoint: WebhookEndpoint) -> None:
    """Remove it with all that waits for it."""
    # Who announces something at this moment waits, and then leaves it out.
    _rows(endpoint).select_for_update().first()
    WebhookDelivery.objects.filter(team_id=endpoint.team_id, endpoint=endpoint).delete()
    _rows(endpoint).delete()


def rotate_secret(*, endpoint: WebhookEndpoint, now: datetime) -> EndpointWithSecret:
    """Give it a new secret; for 24 hours the present one signs too, one before that no more."""
    kept = new_secret()
    _rows(endpoint).update(secret=kept, old_secret=endpoint.secret, old_secret_until=now + OVERLAP)
    fresh = endpoint_of(team_id=endpoint.team_id, endpoint_id=endpoint.pk)
    return EndpointWithSecret(fresh, str(secret_of(kept)))


def send_test(*, endpoint: WebhookEndpoint, now: datetime) -> WebhookDelivery:
    """Have a `webhook.test` event sent to it. Raises ConflictError while it is disabled."""
    _require_enabled(endpoint)
    return WebhookDelivery.objects.create(
        team_id=endpoint.team_id,
        endpoint=endpoint,
        type=TEST_EVENT,
        subject_id=new_id(),
        data={"webhook": str(endpoint.pk)},
        happened_at=now,
        due_at=now,
        give_up_at=now + PATIENCE,
    )


def replay(
    *,
    endpoint: WebhookEndpoint,
    now: datetime,
    delivery_id: UUID | None = None,
    dead_since: datetime | None = None,
) -> int:
    """Send again one delivery, or all dead ones whose events are not older than a time.

    They are sent under the ids they had, in their order, after what happened since; returns how
    many. One that waits is tried at once, in its place. Raises ConflictError while the endpoint is
    disabled and NotFoundError for a delivery that it does not have.
    """
    _require_enabled(endpoint)
    rows = WebhookDelivery.objects.filter(team_id=endpoint.team_id, endpoint=endpoint)
    if delivery_id is not None:
        rows = rows.filter(id=delivery_id)
        if not rows.exists():
            raise NotFoundError("There is no such delivery.")
    else:
        rows = rows.filter(state=_State.DEAD, happened_at__gte=dead_since or endpoint.created_at)
    ended = rows.exclude(state=_State.WAITING).values_list("seq", flat=True)
    behind = list(ended.select_for_update())
    count = _try_now(endpoint, rows, now=now)
    with connection.cursor() as cursor:
        cursor.execute(_TO_THE_END, [endpoint.team_id, endpoint.pk, behind, endpoint.team_id])
    return count


def _try_now(
    endpoint: WebhookEndpoint, rows: QuerySet[WebhookDelivery, WebhookDelivery], *, now: datetime
) -> int:
    """Have the rows sent at once, each for three days anew; returns how many."""
    _rows(endpoint).update(rests_until=None)
    return rows.update(
        state=_State.WAITING, attempts=0, due_at=now, give_up_at=now + PATIENCE, error=""
    )


def check_url(url: str) -> None:
    """Raise InvalidError for an address that nothing may be sent to."""
    if problem := problem_with_target(url, allow_private=settings.WEBHOOKS_TO_PRIVATE_ADDRESSES):
        raise InvalidError(problem, field="url")


def _known(events: Sequence[str]) -> list[str]:
    unknown = [each for each in events if each not in WEBHOOK_EVENTS]
    if unknown or not events:
        raise InvalidError(f"Choose one or more of: {', '.join(WEBHOOK_EVENTS)}.", field="events")
    return [each for each in WEBHOOK_EVENTS if each in events]


def _require_enabled(endpoint: WebhookEndpoint) -> None:
    if not endpoint.is_enabled:
        raise ConflictError("This webhook is disabled: enable it first.")


def _rows(endpoint: WebhookEndpoint) -> QuerySet[WebhookEndpoint, WebhookEndpoint]:
    return WebhookEndpoint.objects.filter(team_id=endpoint.team_id, id=endpoint.pk)
