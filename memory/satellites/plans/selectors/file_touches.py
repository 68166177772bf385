"""Files that memories name, as predictions read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory.domain.audience import Viewer
from memory.satellites.plans.prediction.ownership import LATEST, Touch
from memory.satellites.plans.selectors.working_set import seen_parameters, seen_sql
from teams.prepared import fetch_planned

# Files of the same names as the open ones, and of the latest memories, that the viewer may see; ten
# times as many of the whole team are looked at for them.
_MOST_NAMED, _MOST_LATEST = 2_000, 500
_LOOKED_AT = 10
# Newest first, and each memory looked up by its id behind OFFSET 0, only until there are enough.
# Where the planner may choose, it looks through all memories of the team for each file.
_FILES = """
SELECT file.memory_id, file.ref, file.added, file.removed, file.breadth
FROM (
    SELECT memory_id, ref, added, removed, breadth FROM memory_memoryartifact
    WHERE team_id = %(team)s AND kind = 'file' AND {among}
    ORDER BY memory_id DESC LIMIT {looked_at}
) AS file
CROSS JOIN LATERAL (
    SELECT * FROM memory_memory o
    WHERE (o.team_id = %(team)s) IS TRUE AND o.id = file.memory_id OFFSET 0
) AS memory_memory
WHERE {seen}
ORDER BY file.memory_id DESC LIMIT {most}
"""


@dataclass(frozen=True, slots=True)
class FileTouches:
    """Files that memories name, oldest memory first: of the names asked for, and the latest."""

    named: list[Touch]
    latest: list[Touch]


def file_touches(*, viewer: Viewer, names: Sequence[str]) -> FileTouches:
    """Files of those names, and of the latest memories; call it in the team's scope.

    Read are the live memories that the viewer may see; they count from oldest to latest by id.
    """
    named = _touches(viewer, "name = ANY(%(names)s::text[])", _MOST_NAMED, names=list(names))
    latest = _touches(viewer, "true", _MOST_LATEST)
    newest = set(list(dict.fromkeys(each.key for each in reversed(latest)))[:LATEST])
    return FileTouches(named, [each for each in latest if each.key in newest])


def _touches(viewer: Viewer, among: str, most: int, **parameters: object) -> list[Touch]:
    statement = _FILES.format(
        among=among, looked_at=_LOOKED_AT * most, seen=seen_sql(viewer), most=most
    )
    rows = fetch_planned(statement, seen_parameters(viewer) | parameters)
    return [Touch(*row) for row in reversed(rows)]
