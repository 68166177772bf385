"""The clock that processes on several machines share: that of the database."""

from __future__ import annotations

from datetime import datetime

from django.db import connection


def database_now() -> datetime:
    """What time it is in PostgreSQL, in and outside of transactions; aware UTC.

    Leases are taken, renewed and found to have ended by it, so that machines need not agree.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
    at: datetime = now
    return at
