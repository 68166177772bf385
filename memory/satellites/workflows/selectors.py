"""Workflows that a viewer may be told, recordings that it may go on with, and the calls of talk."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Case, CharField, Exists, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Left, Right

from memory.domain.audience import Audience, Viewer
from memory.domain.forms import Form
from memory.models import Memory, MessageEntry
from memory.models.querysets import MemoryQuerySet, in_projects_q
from memory.satellites.workflows.domain import Said
from memory.satellites.workflows.models import WorkflowRecording
from teams.models import Agent, Conversation, Message

MOST_CONVERSATIONS = 50
MOST_MESSAGES = 5_000
_REQUEST_CHARS = 500
_CALLS_CHARS = 8_000
# As `memory.satellites.chat.wording` writes a call.
TELLS_CALLS = Q(role="tool") & ~Q(name="") | Q(role="assistant", content__contains="[calls ")


def workflow_hints(*, viewer: Viewer, limit: int = 20) -> MemoryQuerySet:
    """The workflows that the viewer may see, the most important first; call it in scope.

    The text of each is its hint in a line: "deploy: test → build → prod".
    """
    rows = Memory.objects.visible_to(viewer).searchable(include_cold=False)
    return rows.filter(form=Form.WORKFLOW).order_by("-importance", "-created_at", "-id")[:limit]


def recordings_visible_to(viewer: Viewer) -> QuerySet[WorkflowRecording, WorkflowRecording]:
    """The recordings of the team, or those that are the viewer's agent's or made by it."""
    rows = WorkflowRecording.objects.filter(team_id=viewer.team_id)
    if viewer.agent_id is not None:
        rows = rows.filter(Q(agent_id=viewer.agent_id) | Q(author_id=viewer.agent_id))
    return rows.filter(in_projects_q(viewer)).select_related("agent", "project")


def has_calls(*, team_id: UUID, conversation_id: UUID, first: int, last: int) -> bool:
    """Whether messages of these positions tell of tool calls; call it in scope."""
    rows = Message.objects.filter(team_id=team_id, conversation_id=conversation_id)
    return rows.filter(TELLS_CALLS, position__range=(first, last)).exists()


def said_by_agent(*, team_id: UUID, agent: Agent, person_id: UUID | None) -> list[Said]:
    """The latest requests and tool calls in an agent's latest conversations, in their order.

    Of those with one person what was not told in confidence, or without a person what is the team's
    of all; calls have the audience of their request. Of a request its beginning, of a message with
    calls its end. Call it in scope.
    """
    latest = Conversation.objects.filter(team_id=team_id, agent=agent).order_by("-id")
    entries = MessageEntry.objects.filter(team_id=team_id, agent=agent, is_forgotten=False)
    if person_id is None:
        entries = entries.filter(audience=Audience.TEAM.value)
    else:
        latest = latest.filter(end_user_id=person_id)
        entries = entries.filter(end_user_id=person_id)
        if not agent.keeps_to_itself:
            entries = entries.filter(audience__in=(Audience.PERSON.value, Audience.TEAM.value))
    ids = list(latest.values_list("id", flat=True)[:MOST_CONVERSATIONS])
    told = Case(
        When(role="user", then=Left("content", _REQUEST_CHARS)),
        When(role="assistant", then=Right("content", _CALLS_CHARS)),
        default=Value(""),
        output_field=CharField(),
    )
    rows = Message.objects.filter(
        TELLS_CALLS | Q(role="user"), team_id=team_id, conversation_id__in=ids
    ).order_by("-conversation_id", "-position")
    is_open = Exists(entries.filter(message_id=OuterRef("pk")))
    found = rows.values_list("id", "conversation_id", "role", told, "name", is_open)[:MOST_MESSAGES]
    said, of_open = [], None
    for *row, is_told in reversed(found):
        message = Said(*row)
        if message.role == "user":
            of_open = message.conversation if is_told else None
        if message.conversation == of_open:
            said.append(message)
    return said
