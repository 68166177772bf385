"""A scope begins its transaction, and sets what it is about, in one go."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from django.db import DataError, OperationalError, connection, connections

from teams.tenancy import team_scope

pytestmark = pytest.mark.usefixtures("committed_db")

NAMES = ("palimpsest.team_ids", "palimpsest.actor", "palimpsest.reason", "enable_seqscan")


def settings_now() -> list[str]:
    """Returns the session settings, unset ones as empty strings."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(current_setting(name, true), '') FROM unnest(%s::text[]) AS name",
            [list(NAMES)],
        )
        return [value for (value,) in cursor.fetchall()]


@pytest.mark.parametrize("text", ["it's", "back\\slash '; COMMIT; --", 'a "b"', "naïve — 名前", ""])
def test_values_arrive_as_they_are_and_end_with_the_transaction(text: str) -> None:
    teams = [uuid4(), uuid4()]

    with team_scope(team_ids=teams, actor=text, reason=f"why {text}", is_planned_once=True):
        inside = settings_now()

    assert inside == [",".join(map(str, teams)), text, f"why {text}", "off"]
    assert settings_now() == ["", "", "", "on"]


def test_one_transaction_is_begun_and_ended() -> None:
    with team_scope(team_ids=[UUID(int=1)], actor="test", shared_lock=7):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_locks"
                " WHERE locktype = 'advisory' AND objid = 7 AND pid = pg_backend_pid()"
            )
            assert cursor.fetchone() == (1,)
        assert connection.connection.info.transaction_status.name == "INTRANS"
    assert connection.connection.info.transaction_status.name == "IDLE"


def test_a_lost_connection_is_an_error_of_the_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])

    with pytest.raises(OperationalError), team_scope(team_ids=[UUID(int=1)], actor="test"):
        pass

    connection.close()
    with team_scope(team_ids=[UUID(int=1)], actor="test"):
        assert settings_now()[1] == "test"


def test_a_null_character_is_refused_and_nothing_is_begun() -> None:
    with pytest.raises(DataError), team_scope(team_ids=[UUID(int=1)], actor="a\0b"):
        pass

    assert connection.connection.info.transaction_status.name == "IDLE"


def test_a_reason_stands_in_no_text_of_a_statement() -> None:
    with team_scope(team_ids=[UUID(int=1)], actor="test", reason="what somebody wrote"):
        with connections["owner"].cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%%wrote%%'")
            assert cursor.fetchone() == (1,)  # this one
        assert settings_now()[2] == "what somebody wrote"
