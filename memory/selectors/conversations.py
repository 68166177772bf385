"""Conversations, messages and jobs as a viewer may see them."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from memory.domain.viewer import Viewer
from memory.models import Job
from memory.selectors.names import is_guest
from teams.errors import NotFoundError
from teams.models import Conversation, Message


def conversations_of(viewer: Viewer) -> QuerySet[Conversation, Conversation]:
    """Those of the viewer's team, or of its one agent."""
    return Conversation.objects.filter(_own(viewer), team_id=viewer.team_id)


def conversation_for(*, viewer: Viewer, conversation_id: UUID) -> Conversation:
    """The conversation; NotFoundError when the viewer's team or agent does not have it."""
    rows = conversations_of(viewer).filter(id=conversation_id)
    row = rows.select_related("agent", "end_user", "project").first()
    if row is None:
        raise NotFoundError("There is no such conversation.")
    return row


def conversation_with(*, viewer: Viewer, conversation_id: UUID) -> Conversation:
    """The conversation that a read names; NotFoundError also for one with another user."""
    try:
        conversation = conversation_for(viewer=viewer, conversation_id=conversation_id)
    except NotFoundError as error:
        raise NotFoundError(error.message, field="conversation") from None
    if viewer.end_user_id not in (None, conversation.end_user_id):
        raise NotFoundError("There is no such conversation with this user.", field="conversation")
    return conversation


def viewer_in(viewer: Viewer, conversation: Conversation) -> Viewer:
    """The viewer with the conversation's user and project where it has none itself, in scope."""
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
    """Messages of conversations the viewer may see."""
    rows = Message.objects.filter(
        _own(viewer, "conversation__"), team_id=viewer.team_id, id__in=ids
    )
    return {row.pk: row for row in rows}


def job_for(*, viewer: Viewer, job_id: UUID) -> Job:
    """The job; NotFoundError when its conversation is not the viewer's."""
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
    """How many jobs of the scope's teams are in each state."""
    rows = Job.objects.order_by().values_list("state").annotate(count=Count("*"))
    found = dict(rows)
    return {state.value: found.get(state.value, 0) for state in Job.State}
