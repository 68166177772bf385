"""Long statements of reads, prepared and planned once a connection, with binary answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection

_PLAN = "SELECT set_config('plan_cache_mode', %s, true)"


def fetch_planned(
    statement: str,
    parameters: Mapping[str, Any],  # Any: a parameter of any type
    *,
    once: bool = True,
) -> list[tuple[Any, ...]]:
    """The rows of a statement with named parameters; call it in the team's scope.

    With `once` it is prepared, and planned once for all parameters, which for a long statement
    saves more time than running it takes; otherwise it is planned for these. JSON comes parsed,
    past what the ORM has set for its own reading.
    """
    connection.ensure_connection()
    raw = connection.connection
    is_prepared = once and settings.DATABASE_PREPARE
    with psycopg.Cursor(raw) as cursor:
        cursor.execute(_PLAN, ["force_generic_plan" if is_prepared else "auto"])
        # On only here: psycopg would keep the text of each statement of the ORM, values and all,
        # to count how often it comes.
        raw.prepare_threshold = 0 if is_prepared else None
        try:
            cursor.execute(statement, parameters, prepare=is_prepared, binary=True)
        finally:
            raw.prepare_threshold = None
        return cursor.fetchall()
