"""The newest rows of the log of some kinds, a few of each team and kind."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from audit.models import MemoryLog

# Each team's rows of each event are read from the newest down by the index of events. One query
# for all of them would walk the log past whatever else was written since.
_LATEST = """
SELECT entry.seq, entry.team_id, entry.memory_id, entry.event, entry.actor, entry.reason, entry.at,
    entry.commit_id
FROM unnest(%s::uuid[]) AS team (id)
CROSS JOIN unnest(%s::text[]) AS kind (event)
CROSS JOIN LATERAL (
    SELECT * FROM audit_memorylog AS log
    WHERE log.team_id = team.id AND log.event = kind.event
    ORDER BY log.seq DESC LIMIT %s
) AS entry
ORDER BY entry.seq DESC
"""


def latest_of_events(
    *, team_ids: Sequence[UUID], events: Sequence[str], of_each: int
) -> list[MemoryLog]:
    """The newest rows of these events, at most `of_each` of each team and event, newest first.

    They carry no state and no digest. Call it in a scope that shows the teams.
    """
    return list(MemoryLog.objects.raw(_LATEST, [list(team_ids), list(events), of_each]))
