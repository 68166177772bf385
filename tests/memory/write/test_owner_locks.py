"""Writers of one owner take turns."""

from __future__ import annotations

from uuid import uuid4

from django.db import connection

from memory.writing.write_path import lock_owners
from tests.support.cast import Cast

_HELD = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"


def _one(statement: str) -> object:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]


def test_a_turn_of_each_owner_is_held_until_the_transaction_ends(acme: Cast) -> None:
    before = _one(_HELD)
    owners = [(acme.team.id, acme.sarah.pk), (acme.team.id, None), (uuid4(), None)]

    lock_owners([*owners, *owners])
    lock_owners([])

    assert _one(_HELD) == before + len(owners)  # type: ignore[operator]


def test_only_the_turn_may_be_waited_for_so_long(acme: Cast) -> None:
    """A row that somebody holds should not."""
    before = _one("SHOW lock_timeout")

    lock_owners([(acme.team.id, None)])

    assert _one("SHOW lock_timeout") == before != "50s"
