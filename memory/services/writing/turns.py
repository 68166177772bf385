"""Writers of one audience go one after the other, so that each sees what the other wrote."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from uuid import UUID

from teams.prepared import run_prepared

# One statement waits for all of them, in their order. A large batch before this one may take long;
# a row that somebody holds should not, so the longer limit ends with the statement.
_TAKE = """
WITH before AS MATERIALIZED (
    SELECT current_setting('lock_timeout') AS limit, set_config('lock_timeout', '50s', true)
), taken AS MATERIALIZED (
    SELECT pg_advisory_xact_lock(number)
    FROM before, unnest($1::bigint[]) WITH ORDINALITY AS turns (number, place) ORDER BY place
)
SELECT set_config('lock_timeout', (SELECT before.limit FROM before), true)
FROM (SELECT count(*) FROM taken) AS all_taken
"""


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
    run_prepared(_TAKE, [numbers])
