"""Operational events: buffered off the request path, kept by day, dropped by day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import ProgrammingError, connection, connections, transaction
from django.utils import timezone
from django_redis import get_redis_connection

from audit.models import OperationalEvent
from audit.services.events import (
    BUFFER,
    FLUSH_BATCH,
    Event,
    add_events,
    flush_events,
    keep_event_days,
    record_events,
)
from audit.tasks import flush_events as flush_task
from audit.tasks import keep_event_days as keep_task
from teams.tenancy import team_scope
from tests.support.cast import Cast


def note(team_id: UUID, *events: Event, at: datetime | None = None) -> None:
    with get_redis_connection("default").pipeline() as pipe:
        add_events(pipe=pipe, team_id=team_id, events=events, now=at or timezone.now())
        pipe.execute()


def parts() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits"
            " WHERE inhparent = 'audit_operationalevent'::regclass"
        )
        return {name for (name,) in cursor.fetchall()}


def part_of(event: OperationalEvent) -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tableoid::regclass::text FROM audit_operationalevent WHERE id = %s", [event.pk]
        )
        (name,) = cursor.fetchone() or ("",)
        return str(name)


def name_of(day: datetime) -> str:
    return f"audit_operationalevent_{day.astimezone(UTC):%Y%m%d}"


def test_what_was_noted_is_written_down_as_it_was(acme: Cast) -> None:
    memory, conversation = uuid4(), uuid4()
    now = timezone.now()
    event = Event(
        node="hotpath",
        op="create",
        status="skipped",
        memory_id=memory,
        end_user_id=acme.sarah.pk,
        conversation_id=conversation,
        similarity=0.75,
        meta={"found": 3},
    )
    note(acme.team.id, event, at=now)
    assert not OperationalEvent.objects.exists()

    assert flush_events() == 1

    row = OperationalEvent.objects.get()
    assert (row.node, row.op, row.status) == ("hotpath", "create", "skipped")
    assert (row.memory_id, row.end_user_id) == (memory, acme.sarah.pk)
    assert (row.conversation_id, row.similarity) == (conversation, 0.75)
    assert (row.meta, row.at) == ({"found": 3}, now)
    assert part_of(row) == name_of(now)
    assert flush_events() == 0


def test_events_of_many_teams_and_batches_are_written_in_one_run(acme: Cast, globex: Cast) -> None:
    note(acme.team.id, *[Event("hotpath", "search")] * (FLUSH_BATCH + 3))
    note(globex.team.id, Event("hotpath", "search"))

    flush_task()

    assert OperationalEvent.objects.filter(team=acme.team).count() == FLUSH_BATCH + 3
    assert not OperationalEvent.objects.filter(team=globex.team).exists()
    with team_scope(team_ids=[globex.team.id], actor="test"):
        assert OperationalEvent.objects.count() == 1
    assert not get_redis_connection("default").exists(BUFFER)


def test_the_buffer_has_an_end_and_the_latest_stay(acme: Cast, settings: Any) -> None:
    settings.EVENT_BUFFER = 3
    for number in range(5):
        note(acme.team.id, Event("hotpath", "search", meta={"number": number}))

    flush_events()

    numbers = {row.meta["number"] for row in OperationalEvent.objects.all()}
    assert numbers == {2, 3, 4}


def test_events_of_an_unknown_team_do_not_hold_up_the_others(acme: Cast) -> None:
    note(uuid4(), Event("hotpath", "search"))
    note(acme.team.id, Event("hotpath", "search"))

    assert flush_events() == 1


def test_while_one_task_writes_another_leaves_the_buffer_alone(
    committed_db: None, django_db_setup: None
) -> None:
    client = get_redis_connection("default")
    client.rpush(BUFFER, "untouched")
    other = connections.create_connection("default")
    try:
        with transaction.atomic(), other.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [f"flush|{BUFFER}"])
            assert flush_events() == 0
    finally:
        other.close()

    assert client.llen(BUFFER) == 1


def test_days_are_made_ahead_and_old_ones_dropped(acme: Cast, settings: Any) -> None:
    settings.EVENT_DAYS = 10
    now = timezone.now()
    long_ago = now - timedelta(days=40)
    keep_event_days(now=long_ago)
    for at in (long_ago, now - timedelta(days=10), now):
        note(acme.team.id, Event("hotpath", "search"), at=at)
    # Of a day without a table of its own.
    note(acme.team.id, Event("hotpath", "search"), at=now - timedelta(days=200))
    flush_events()
    assert name_of(long_ago) in parts()

    keep_task()

    assert {name_of(now + timedelta(days=days)) for days in range(8)} <= parts()
    assert name_of(long_ago) not in parts()
    kept = {row.at.date() for row in OperationalEvent.objects.all()}
    assert kept == {(now - timedelta(days=10)).date(), now.date()}
    assert keep_event_days(now=now) == (0, 0)


def test_events_that_came_before_their_day_move_into_it(acme: Cast) -> None:
    later = timezone.now() + timedelta(days=100)
    record_events(team_id=acme.team.id, events=[Event("worker", "extract")])
    note(acme.team.id, Event("hotpath", "search"), at=later)
    flush_events()
    early = OperationalEvent.objects.get(op="search")
    assert part_of(early) == "audit_operationalevent_other"

    keep_event_days(now=later)

    assert part_of(early) == name_of(later)
    assert OperationalEvent.objects.get(op="search").at == later


def test_each_part_is_held_to_the_team_and_closed_to_the_application(acme: Cast) -> None:
    record_events(team_id=acme.team.id, events=[Event("worker", "extract")])
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname, c.relrowsecurity, count(p.polname),"
            " has_table_privilege('palimpsest_app', c.oid, 'SELECT, INSERT, UPDATE, DELETE')"
            " FROM pg_class c LEFT JOIN pg_policy p ON p.polrelid = c.oid"
            " WHERE c.relispartition AND c.relname LIKE 'audit_operationalevent_%%'"
            " AND c.relkind = 'r' GROUP BY c.oid"
        )
        rows = cursor.fetchall()
    assert len(rows) == len(parts())
    assert {row[1:] for row in rows} == {(True, 1, False)}
    with pytest.raises(ProgrammingError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {name_of(timezone.now())}")
    with pytest.raises(ProgrammingError), transaction.atomic():
        OperationalEvent.objects.update(op="other")
    with pytest.raises(ProgrammingError), transaction.atomic():
        OperationalEvent.objects.all().delete()
