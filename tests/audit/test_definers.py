"""Functions that run with their owner's rights run nothing of the caller's."""

from __future__ import annotations

import pytest
from django.db import connection


@pytest.mark.django_db
def test_no_function_of_the_owner_looks_a_session_s_own_names_up_first() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT proname, proconfig FROM pg_proc"
            " WHERE prosecdef AND pronamespace = 'public'::regnamespace"
        )
        definers = cursor.fetchall()

    assert len(definers) > 20
    wrong = [
        name
        for name, settings in definers
        if "search_path=pg_catalog, public, pg_temp" not in (settings or [])
    ]
    assert wrong == []


@pytest.mark.django_db
def test_nobody_else_may_set_a_trigger_of_the_owner_on_his_own_table() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT proname FROM pg_proc"
            " WHERE prosecdef AND pronamespace = 'public'::regnamespace"
            " AND prorettype = 'trigger'::regtype"
            " AND has_function_privilege('palimpsest_app', oid, 'EXECUTE')"
        )
        found = [name for (name,) in cursor.fetchall()]

    assert found == []
