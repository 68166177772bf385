"""Writers of one owner go one after the other, so that each sees what the other wrote."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from uuid import UUID

from memory.selectors.sql_files import load_sql_parts
from teams.prepared import run_prepared

_LOCK = load_sql_parts(__file__, "owner_locks.sql")["lock"]


def lock_owners(owners: Iterable[tuple[UUID, UUID | None]]) -> None:
    """Wait for the writers of each (team, end user) and keep others out until the transaction ends.

    Locks are taken in one order by everybody.
    """
    names = {f"memory-writes|{team_id}|{end_user_id}" for team_id, end_user_id in owners}
    if names:
        run_prepared(_LOCK, [sorted(map(lock_number, names))])


def lock_number(name: str) -> int:
    """The number of 64 bits under which PostgreSQL locks that name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
