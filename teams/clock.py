"""The clock that processes on several machines share: that of the database."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection

from teams.steady_clock import steady_now

# The clocks of two machines may differ by so much; a time that is further ahead of now was
# written by a clock that has been set back since.
SKEW = timedelta(minutes=1)


# The clock of a machine may be wrong by so much before a worker begins to doubt it.
_BELIEVED = timedelta(days=1)


def database_now() -> datetime:
    """What time it is in PostgreSQL, in and outside of transactions; aware UTC.

    Leases are taken, renewed and found to have ended by it, so that machines need not agree.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
    at: datetime = now
    return at


def careful(now: datetime) -> datetime:
    """The time by which what is old is removed for good, where a clock says that it is `now`.

    Of a clock that jumped ahead since this process began only a day is believed, so that nothing is
    lost before somebody sets it right. Where it is right now, a restart of the worker makes it so.
    """
    return min(now, steady_now() + _BELIEVED)
