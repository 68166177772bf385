"""What may matter for work in progress by its form alone, whatever words it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple
from uuid import UUID

from memory.domain.audience import Viewer
from memory.domain.forms import Form
from memory.domain.types import Tier
from memory.models import Memory
from memory.models.memory import LIVE
from memory.models.querysets import visible_to_q
from memory.selectors.filters import NOBODY, Kind, viewer_parameters, viewer_sql
from teams.prepared import fetch_planned, uuids

# The newest of each form that are looked at; older ones are found by their file or their words.
_MOST: Mapping[Form, int] = {
    Form.DECISION: 150,
    Form.FAILURE: 150,
    Form.CONVENTION: 40,
    Form.WORKFLOW: 20,
    Form.PATTERN: 20,
}
_MOST_OF_FILES = 200
_MOST_TAGGED = 20
_MOST_LIKED = 30

_COLUMNS = "memory_memory.id, memory_memory.form, memory_memory.category, memory_memory.subject"
_STATEMENT = """
WITH newest AS MATERIALIZED (
    SELECT found.*, '' AS reason
    FROM (VALUES {most}) AS wanted (form, most)
    CROSS JOIN LATERAL (
        SELECT {columns} FROM memory_memory
        WHERE {seen} AND memory_memory.form = wanted.form AND memory_memory.form <> ''
        ORDER BY memory_memory.id DESC LIMIT wanted.most
    ) AS found
), named AS MATERIALIZED (
    SELECT {columns}, '' AS reason FROM memory_memoryartifact a
    JOIN memory_memory ON memory_memory.team_id = a.team_id AND memory_memory.id = a.memory_id
    WHERE a.team_id = %(team)s AND a.kind = 'file' AND a.ref = ANY(%(files)s::text[])
        AND memory_memory.form IN ('decision', 'failure') AND {seen}
    LIMIT {most_of_files}
), tagged AS MATERIALIZED (
    SELECT {columns}, 'summary' AS reason FROM memory_memorytag t
    JOIN memory_memory ON memory_memory.team_id = t.team_id AND memory_memory.id = t.memory_id
    WHERE t.team_id = %(team)s AND t.name = 'summary' AND {seen}
    ORDER BY memory_memory.id DESC LIMIT {most_tagged}
), liked AS MATERIALIZED (
    SELECT {columns}, 'liked' AS reason FROM memory_memory
    WHERE {seen} AND memory_memory.end_user_id = %(collaborator)s::uuid AND (
        memory_memory.memory_type = 'user_profile' OR memory_memory.category = 'preferences'
        OR memory_memory.subject LIKE 'user.preference%%'
    )
    LIMIT {most_liked}
)
SELECT each.*, (
    SELECT array_agg(t.name) FROM memory_memorytag t
    WHERE t.team_id = %(team)s AND t.memory_id = each.id
), (
    SELECT array_agg(a.ref) FROM memory_memoryartifact a
    WHERE a.team_id = %(team)s AND a.memory_id = each.id AND a.kind = 'file'
)
FROM (
    SELECT * FROM newest UNION SELECT * FROM named
    UNION SELECT * FROM tagged UNION SELECT * FROM liked
) AS each
"""
_FILES = """
SELECT memory_id, array_agg(ref) FROM memory_memoryartifact
WHERE team_id = %(team)s AND memory_id = ANY(%(ids)s::uuid[]) AND kind = 'file'
GROUP BY memory_id
"""


class WorkingRow(NamedTuple):
    """A memory of the working set; `reason` is `summary`, `liked` or empty for its form."""

    memory_id: UUID
    form: str
    category: str
    subject: str
    reason: str
    tags: list[str] | None
    files: list[str] | None


def working_set(
    *, viewer: Viewer, files: Sequence[str], collaborator_id: UUID | None
) -> list[WorkingRow]:
    """Decisions, failures, conventions, workflows, patterns and summaries that the viewer may see.

    Also what a collaborator of that id prefers. Call it in the team's scope.
    """
    statement = _STATEMENT.format(
        seen=seen_sql(viewer),
        columns=_COLUMNS,
        most=", ".join(f"('{form.value}', {most})" for form, most in _MOST.items()),
        most_of_files=_MOST_OF_FILES,
        most_tagged=_MOST_TAGGED,
        most_liked=_MOST_LIKED,
    )
    parameters = seen_parameters(viewer) | {
        "files": list(files),
        "collaborator": collaborator_id or NOBODY,
    }
    return [WorkingRow._make(each) for each in fetch_planned(statement, parameters)]


def files_of(*, team_id: UUID, ids: Sequence[UUID]) -> dict[UUID, list[str]]:
    """The paths that each of the memories names; call it in the team's scope."""
    return dict(fetch_planned(_FILES, {"team": team_id, "ids": uuids(ids)}))


def seen_sql(viewer: Viewer) -> str:
    """What the viewer may see of the table of memories, live and not cold, as a condition."""
    return _seen_sql(Kind.of(viewer))


def seen_parameters(viewer: Viewer) -> dict[str, object]:
    """What the parameters of `seen_sql` stand for."""
    allowed = viewer.allowed_categories
    return viewer_parameters(viewer) | ({"categories": ["", *allowed]} if allowed else {})


@cache
def _seen_sql(kind: Kind) -> str:
    visible = viewer_sql(visible_to_q, kind=kind, model=Memory)
    live = ", ".join(f"'{each}'" for each in LIVE)
    allowed = (
        "memory_memory.category = ANY(%(categories)s::text[])" if kind.has_allowlist else "true"
    )
    return (
        f"({visible}) AND memory_memory.status IN ({live})"
        f" AND memory_memory.tier <> '{Tier.COLD.value}' AND {allowed}"
    )
