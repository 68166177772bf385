"""A log row is there with its change or not at all, whoever makes it."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, connections, transaction

from audit.models import MemoryLog
from memory.models import Memory
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.memory_log import execute, log_of, state_of

# -- one transaction -------------------------------------------------------------------------


class Undone(Exception):  # noqa: N818 - only ends a block
    """Rolls a block back."""


def test_a_change_that_is_rolled_back_leaves_no_row(acme: Cast) -> None:
    memory = factories.MemoryFactory.create(team=acme.team)

    def change() -> None:
        with transaction.atomic():
            Memory.objects.filter(pk=memory.pk).update(importance=9)
            factories.MemoryFactory(team=acme.team)
            assert MemoryLog.objects.count() == 3
            raise Undone

    with pytest.raises(Undone):
        change()

    assert MemoryLog.objects.count() == 1
    assert state_of(memory.pk)["importance"] == 5


def test_a_refused_change_leaves_no_row(acme: Cast) -> None:
    memory = factories.MemoryFactory.create(team=acme.team)

    with pytest.raises(IntegrityError), transaction.atomic():
        Memory.objects.filter(pk=memory.pk).update(importance=11)

    assert len(log_of(memory)) == 1


def test_a_temporary_table_cannot_catch_the_log_rows(acme: Cast) -> None:
    """The application may create temporary tables; they come first where a name is looked up."""
    memory = factories.MemoryFactory.create(team=acme.team)
    execute(
        "CREATE TEMPORARY TABLE audit_memorylog"
        " (LIKE public.audit_memorylog INCLUDING IDENTITY) ON COMMIT DROP"
    )

    Memory.objects.filter(pk=memory.pk).update(importance=9)

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT event FROM public.audit_memorylog WHERE memory_id = %s ORDER BY seq",
            [memory.pk],
        )
        assert cursor.fetchall() == [("created",), ("updated",)]


# -- the owner, from outside the application -------------------------------------------------


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A committed team."""
    return make_cast(f"town-{uuid4().hex}")


def test_the_owners_changes_are_logged_too(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        memory = factories.MemoryFactory.create(team=town.team)

    with connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE memory_memory SET is_pinned = true WHERE id = %s", [memory.pk])
        cursor.execute("SELECT session_user::text")
        (login,) = cursor.fetchone()

    with team_scope(team_ids=[town.team.id], actor="test"):
        last = log_of(memory)[-1]
        assert (last.event, last.actor, last.reason) == ("pinned", f"database:{login}", "")
        assert last.state == state_of(memory.pk)


def test_the_owners_settings_name_actor_and_reason(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        memory = factories.MemoryFactory.create(team=town.team)

    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute("SET LOCAL palimpsest.actor = 'dba:ann'")
        cursor.execute("SET LOCAL palimpsest.reason = 'ticket 42'")
        cursor.execute("UPDATE memory_memory SET importance = 1 WHERE id = %s", [memory.pk])

    with team_scope(team_ids=[town.team.id], actor="test"):
        last = log_of(memory)[-1]
        assert (last.actor, last.reason) == ("dba:ann", "ticket 42")


def test_the_owners_rollback_leaves_no_row(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        memory = factories.MemoryFactory.create(team=town.team)

    def change() -> None:
        with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
            cursor.execute("UPDATE memory_memory SET importance = 1 WHERE id = %s", [memory.pk])
            raise Undone

    with pytest.raises(Undone):
        change()

    with team_scope(team_ids=[town.team.id], actor="test"):
        assert len(log_of(memory)) == 1
