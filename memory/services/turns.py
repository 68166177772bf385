"""Writers of one audience go one after the other, so that each sees what the other wrote."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from uuid import UUID

from django.db import connection


def take_turns(owners: Iterable[tuple[UUID, UUID | None]]) -> None:
    """Wait for the writers of each (team, end user) and keep others out until the transaction ends.

    Locks are taken in one order by everybody.
    """
    turns = {f"memory-writes|{team_id}|{end_user_id}" for team_id, end_user_id in owners}
    if not turns:
        return
    numbers = sorted(
        int.from_bytes(hashlib.sha256(turn.encode()).digest()[:8], "big", signed=True)
        for turn in turns
    )
    with connection.cursor() as cursor:
        # A large batch before this one may take long; a row that somebody holds should not.
        cursor.execute("SET LOCAL lock_timeout = '50s'")
        for number in numbers:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])
        cursor.execute("SET LOCAL lock_timeout TO DEFAULT")
