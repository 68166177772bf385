"""Freezing a team while it is moved to another deployment, and writing its rows past triggers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from uuid import UUID

from django.db import connections, transaction
from django.db.backends.utils import CursorWrapper

from teams.errors import ConflictError, UnavailableError
from teams.models import Team

OWNER = "owner"
_POLL_SECONDS = 0.02
# Transactions that looked for frozen teams (palimpsest_hold_if_frozen) hold a lock on the table.
_UNDER_WAY = """
SELECT l.pid, l.virtualtransaction FROM pg_locks l
WHERE l.locktype = 'relation' AND l.relation = 'public.teams_team'::regclass
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND l.pid <> pg_backend_pid()
"""


@contextmanager
def past_triggers(tables: Sequence[str]) -> Iterator[CursorWrapper]:
    """Writes rows of tables as they are, past the triggers that log, number and refuse.

    Yields a cursor in a transaction of the owner's login. Where that login may set
    session_replication_role (`GRANT SET ON PARAMETER`), nobody waits, and foreign keys are not
    checked; else the triggers of the tables are switched off, for which writers of all teams wait.
    """
    quoted = [connections[OWNER].ops.quote_name(table) for table in tables]
    with transaction.atomic(using=OWNER), connections[OWNER].cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute("SET LOCAL lock_timeout = '60s'")
        cursor.execute("SELECT has_parameter_privilege('session_replication_role', 'SET')")
        if cursor.fetchone()[0]:
            cursor.execute("SET LOCAL session_replication_role = replica")
            yield cursor
            cursor.execute("SET LOCAL session_replication_role = origin")
            return
        for table in quoted:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        yield cursor
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in quoted:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def freeze_team(*, team_id: UUID, now: datetime, seconds: float = 30.0) -> bool:
    """Refuses writes of the team from now on, and returns once those under way have ended.

    Returns whether it was not frozen before. Call it outside of any transaction; the owner's login
    does it. Raises ConflictError for a team that has moved, and UnavailableError, with the team as
    it was, where a transaction of before goes on for more than `seconds`.
    """
    rows = Team.objects.using(OWNER).filter(pk=team_id)
    if rows.exclude(moved_to="").exists():
        raise ConflictError("The team has moved away already.")
    is_first = rows.filter(frozen_at=None).exists()
    rows.update(frozen_at=now, **({"exported_at": None} if is_first else {}))
    try:
        _wait_for_others(seconds)
    except BaseException:
        if is_first:
            thaw_team(team_id=team_id)
        raise
    return is_first


def _wait_for_others(seconds: float) -> None:
    until = time.monotonic() + seconds
    with connections[OWNER].cursor() as cursor:
        cursor.execute(_UNDER_WAY)
        before = set(cursor.fetchall())
        while before:
            if time.monotonic() >= until:
                processes = ", ".join(sorted({str(pid) for pid, _ in before}))
                raise UnavailableError(
                    f"Transactions that began before have not ended within {seconds:g} s (processes"
                    f" {processes} of PostgreSQL), such as exports. Try again later."
                )
            time.sleep(_POLL_SECONDS)
            cursor.execute(_UNDER_WAY)
            before &= set(cursor.fetchall())


def thaw_team(*, team_id: UUID) -> None:
    """Takes writes of a frozen team again; raises ConflictError if it is not, or has moved."""
    rows = Team.objects.using(OWNER).filter(pk=team_id, moved_to="")
    if not rows.exclude(frozen_at=None).update(frozen_at=None, exported_at=None):
        raise ConflictError("The team is not being moved.")


def note_export(*, team_id: UUID, now: datetime) -> None:
    """Records that the file of a team frozen at that time is complete, so that it may move.

    Raises ConflictError where it takes changes again, or was frozen anew.
    """
    rows = Team.objects.using(OWNER).filter(pk=team_id, moved_to="", frozen_at=now)
    if not rows.update(exported_at=now):
        raise ConflictError("Another command ended this move meanwhile: the file is of no use.")


def redirect_team(*, team_id: UUID, moved_to: str) -> None:
    """Answers every request of an exported team with its new address; raises ConflictError else."""
    # Only a frozen team has been exported: thawing forgets it.
    rows = Team.objects.using(OWNER).filter(pk=team_id).exclude(exported_at=None)
    if not rows.update(moved_to=moved_to):
        raise ConflictError("The team has not been exported: run this with --out first.")
