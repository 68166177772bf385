"""Conversations, their messages and jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import Count, Q, QuerySet

from memory.domain.audience import Viewer
from memory.models import Job
from memory.selectors.names import is_guest
from teams.errors import NotFoundError
from teams.models import Conversation, Message, Team
from teams.prepared import run_prepared, uuids
from teams.services.team_settings import default_flags
from teams.tenancy import team_scope


def conversations_of(viewer: Viewer) -> QuerySet[Conversation, Conversation]:
    """Returns the conversations of the viewer's team, or of its one agent."""
    return Conversation.objects.filter(_own(viewer), team_id=viewer.team_id)


def conversation_for(*, viewer: Viewer, conversation_id: UUID) -> Conversation:
    """Returns the conversation; NotFoundError if the viewer's team or agent lacks it."""
    rows = conversations_of(viewer).filter(id=conversation_id)
    row = rows.select_related("agent", "end_user", "project").first()
    if row is None:
        raise NotFoundError("There is no such conversation.")
    return row


def conversation_with(*, viewer: Viewer, conversation_id: UUID) -> Conversation:
    """Returns the conversation that a read names; NotFoundError also if with another user."""
    try:
        conversation = conversation_for(viewer=viewer, conversation_id=conversation_id)
    except NotFoundError as error:
        raise NotFoundError(error.message, field="conversation") from None
    if viewer.end_user_id not in (None, conversation.end_user_id):
        raise NotFoundError("There is no such conversation with this user.", field="conversation")
    return conversation


def viewer_in(viewer: Viewer, conversation: Conversation) -> Viewer:
    """Returns the viewer with the conversation's user and project if it has none; in scope."""
    if viewer.end_user_id is None:
        person = conversation.end_user_id
        viewer = replace(
            viewer,
            end_user_id=person,
            is_guest=is_guest(team_id=viewer.team_id, end_user_id=person),
        )
    return replace(
        viewer,
        project_id=viewer.project_id or conversation.project_id,
    )


def messages_of(conversation: Conversation) -> QuerySet[Message, Message]:
    return Message.objects.filter(team_id=conversation.team_id, conversation=conversation)


def messages_by_id(*, viewer: Viewer, ids: list[UUID]) -> dict[UUID, Message]:
    """Returns messages of conversations that the viewer may see."""
    rows = Message.objects.filter(
        _own(viewer, "conversation__"), team_id=viewer.team_id, id__in=ids
    )
    return {row.pk: row for row in rows}


def job_for(*, viewer: Viewer, job_id: UUID) -> Job:
    """Returns the job; NotFoundError if its conversation is not the viewer's."""
    rows = Job.objects.extractions().filter(_own(viewer, "conversation__"))
    row = rows.filter(team_id=viewer.team_id, id=job_id).first()
    if row is None:
        raise NotFoundError("There is no such job.")
    return row


def _own(viewer: Viewer, path: str = "") -> Q:
    own = Q(**{f"{path}agent_id": viewer.agent_id}) if viewer.agent_id else Q()
    if viewer.project_ids:
        project = f"{path}project_id"
        own &= Q(**{f"{project}__in": viewer.project_ids}) | Q(**{f"{project}__isnull": True})
    return own


def jobs_by_state() -> dict[str, int]:
    """Counts the jobs of the scope's teams in each state."""
    rows = Job.objects.order_by().values_list("state").annotate(count=Count("*"))
    found = dict(rows)
    return {state.value: found.get(state.value, 0) for state in Job.State}


# Each id is looked up by itself, which OFFSET makes sure of: for a list the planner may read the
# whole team.
_SPOKEN = """
SELECT m.id, m.conversation_id, m.position, m.role, coalesce(
        nullif(m.name, ''),
        CASE m.role WHEN 'user' THEN coalesce(nullif(u.display_name, ''), u.external_id)
            ELSE a.name END),
    m.external_id, m.created_at, m.content
FROM unnest($2::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT * FROM teams_message o WHERE o.team_id = $1 AND o.id = wanted.id OFFSET 0
) AS m
CROSS JOIN LATERAL (
    SELECT * FROM teams_conversation o
    WHERE o.team_id = $1 AND o.id = m.conversation_id OFFSET 0
) AS c
JOIN teams_agent a ON a.team_id = $1 AND a.id = c.agent_id
JOIN teams_enduser u ON u.team_id = $1 AND u.id = c.end_user_id
"""
# What a memory took the place of was made of messages too, and so was what that replaced: earlier
# versions, and what lost to it. Each id is looked up by itself, as above.
_SOURCES = """
WITH RECURSIVE made AS (
    SELECT m.id AS memory_id, m.id AS part, m.source_message_ids, m.content, 1 AS depth
    FROM unnest($2::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (
        SELECT o.id, o.source_message_ids, o.content FROM memory_memory o
        WHERE o.team_id = $1 AND o.id = wanted.id OFFSET 0
    ) AS m
    UNION ALL
    SELECT made.memory_id, earlier.id, earlier.source_message_ids, earlier.content, made.depth + 1
    FROM made
    CROSS JOIN LATERAL (
        SELECT o.id, o.source_message_ids, o.content FROM memory_memory o
        WHERE o.team_id = $1 AND o.superseded_by_id = made.part OFFSET 0
    ) AS earlier
    WHERE made.depth < $4
)
SELECT DISTINCT memory_id, source, content, depth > 1
FROM made CROSS JOIN LATERAL unnest(source_message_ids) AS source
WHERE source = ANY ($3::uuid[])
"""
_LONGEST_CHAIN = 100


class SpokenMessage(NamedTuple):
    """A message and its speaker: its own name, or else its end user's or its agent's."""

    id: UUID
    conversation_id: UUID
    position: int
    role: str
    speaker: str
    external_id: str | None
    said_at: datetime
    content: str


def spoken_messages(*, team_id: UUID, ids: Sequence[UUID]) -> dict[UUID, SpokenMessage]:
    """Returns the team's messages of those ids; call it in the team's scope."""
    if not ids:
        return {}
    rows = run_prepared(_SPOKEN, [team_id, uuids(ids)])
    return {row[0]: SpokenMessage._make(row) for row in rows}


class Source(NamedTuple):
    """A message that a memory, or one that it superseded, was made of, and the text of that one."""

    memory_id: UUID
    message_id: UUID
    text: str
    is_past: bool


def sources_among(
    *, team_id: UUID, memory_ids: Sequence[UUID], message_ids: Sequence[UUID]
) -> list[Source]:
    """Returns the sources of the memories among the messages; call it in scope."""
    if not memory_ids or not message_ids:
        return []
    given = [team_id, uuids(memory_ids), uuids(message_ids), _LONGEST_CHAIN]
    return [Source._make(row) for row in run_prepared(_SOURCES, given)]


@dataclass(frozen=True, slots=True)
class TeamQueue:
    """A team's due jobs of one kind, and the age of the oldest that is not begun, if any."""

    team_id: UUID
    kind: str
    waits_for: timedelta | None


def team_queues() -> list[TeamQueue]:
    """Returns the queues of teams that have memory switched on and are not moved, in any scope."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM palimpsest_due_jobs()")
        queues = [TeamQueue(*row) for row in cursor.fetchall()]
    ids = {each.team_id for each in queues}
    with team_scope(team_ids=ids, actor="queue"):
        rows = Team.objects.filter(pk__in=ids, frozen_at=None)
        flags = dict(rows.values_list("pk", "feature_flags"))
    return [
        each
        for each in queues
        if each.team_id in flags and default_flags().overridden(flags[each.team_id]).memory
    ]


def oldest_wait() -> float | None:
    """Returns for how many seconds the oldest queued job has been due; None where none is."""
    waits = [each.waits_for.total_seconds() for each in team_queues() if each.waits_for]
    return max(waits, default=None)
