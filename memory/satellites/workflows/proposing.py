"""Proposes the workflows that recur in an agent's talk; each waits for a yes as a consent request.

A proposal is not a memory. What recurs in what members of the team asked for the team is the
team's; what recurs in the talk with one person is the agent's and that person's, so that nothing
goes from one person to another. In one project alone it is the project's. What was told in
confidence is in neither.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.db import OperationalError
from django.db.models import Case, CharField, Exists, OuterRef, Q, Value, When
from django.db.models.functions import Left, Right
from django.utils import timezone

from memory.domain.audience import Audience
from memory.domain.forms import Form
from memory.domain.prompt_guards import is_command
from memory.domain.types import MemoryType
from memory.models import Job, Memory, MessageEntry
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import Signal, new_request, note_requests
from memory.satellites.workflows.domain import (
    Said,
    Workflow,
    holds_sequence,
    recurring_workflows,
    tool_calls,
)
from memory.writing.background import send_after_commit
from memory.writing.drafts import MemoryDraft
from memory.writing.secrets import safe_statement
from teams.errors import InvalidError
from teams.models import Agent, Conversation, Message
from teams.services.team_settings import flags_of_id
from teams.tenancy import team_scope

PROPOSE_TASK = "memory.satellites.workflows.tasks.propose_workflows"
ACTOR = "task:workflows"
FIELD = "workflow"
IMPORTANCE = 6
MOST_A_RUN = 5
MOST_WAITING = 20
_MOST_SOURCES = 100
_MOST_CONVERSATIONS = 50
_MOST_MESSAGES = 5_000
_REQUEST_CHARS = 500
_CALLS_CHARS = 8_000
# As `memory.satellites.chat.wording` writes a call.
_TELLS_CALLS = Q(role="tool") & ~Q(name="") | Q(role="assistant", content__contains="[calls ")
_GATHER_SECONDS = 5


def look_for_workflows(job: Job) -> None:
    """Sends the search for workflows where the messages of an extraction tell of tool calls.

    A lost search is made up for by the agent's next extraction, which searches its latest
    conversations anew.
    """
    with team_scope(team_ids=[job.team_id], actor=ACTOR):
        rows = Message.objects.filter(team_id=job.team_id, conversation_id=job.conversation_id)
        positions = (job.from_position, job.to_position)
        if rows.filter(_TELLS_CALLS, position__range=positions).exists():
            send_after_commit(
                PROPOSE_TASK, job.team_id, job.conversation_id, gather_seconds=_GATHER_SECONDS
            )


@shared_task(
    name=PROPOSE_TASK,
    autoretry_for=(OperationalError,),
    retry_backoff=True,
    retry_jitter=True,
    max_retries=3,
)
def propose_recurring_workflows(team_id: str, conversation_id: str) -> None:
    """Propose the workflows that recur in the talk of a conversation's agent."""
    propose_workflows(
        team_id=UUID(team_id), conversation_id=UUID(conversation_id), now=timezone.now()
    )


def propose_workflows(
    *, team_id: UUID, conversation_id: UUID, now: datetime
) -> list[ConsentRequest]:
    """Propose what recurs in the talk of the agent of this conversation, at most five at a time.

    Nothing that is known: that waits or was decided, or is a workflow that the agent may see.
    """
    with team_scope(team_ids=[team_id], actor=ACTOR):
        rows = Conversation.objects.select_related("agent")
        talk = rows.filter(team_id=team_id, pk=conversation_id).first()
        if talk is None or not flags_of_id(team_id=team_id).memory:
            return []
        said = [_said_by_agent(talk.agent, person_id=each) for each in (None, talk.end_user_id)]
    found = [each for heard in said for each in recurring_workflows(tool_calls(heard))]
    if not found:
        return []
    with team_scope(team_ids=[team_id], actor=ACTOR):
        # One search at a time, so that none misses what another one proposes.
        Agent.objects.select_for_update(no_key=True).get(team_id=team_id, pk=talk.agent_id)
        known = _Known(team_id, talk.agent_id)
        requests: list[ConsentRequest] = []
        for workflow in found:
            draft = _draft(team_id, talk.agent_id, workflow, now)
            if draft is None or known.has(draft):
                continue
            if len(requests) == MOST_A_RUN or known.waiting + len(requests) >= MOST_WAITING:
                break
            requests.append(_propose(draft, workflow, now))
            known.steps.append(draft.payload["steps"])
        note_requests(op="propose", requests=requests)
        return requests


def _said_by_agent(agent: Agent, *, person_id: UUID | None) -> list[Said]:
    """The latest requests and tool calls in an agent's latest conversations, in their order.

    Of those with one person what was not told in confidence, or without a person what is the team's
    of all; calls have the audience of their request. Of a request its beginning, of a message with
    calls its end.
    """
    latest = Conversation.objects.filter(team_id=agent.team_id, agent=agent).order_by("-id")
    entries = MessageEntry.objects.filter(team_id=agent.team_id, agent=agent, is_forgotten=False)
    if person_id is None:
        entries = entries.filter(audience=Audience.TEAM.value)
    else:
        latest = latest.filter(end_user_id=person_id)
        entries = entries.filter(end_user_id=person_id)
        if not agent.keeps_to_itself:
            entries = entries.filter(audience__in=(Audience.PERSON.value, Audience.TEAM.value))
    ids = list(latest.values_list("id", flat=True)[:_MOST_CONVERSATIONS])
    told = Case(
        When(role="user", then=Left("content", _REQUEST_CHARS)),
        When(role="assistant", then=Right("content", _CALLS_CHARS)),
        default=Value(""),
        output_field=CharField(),
    )
    rows = Message.objects.filter(
        _TELLS_CALLS | Q(role="user"), team_id=agent.team_id, conversation_id__in=ids
    ).order_by("-conversation_id", "-position")
    is_open = Exists(entries.filter(message_id=OuterRef("pk")))
    found = rows.values_list("id", "conversation_id", "role", told, "name", is_open)[
        :_MOST_MESSAGES
    ]
    said, of_open = [], None
    for *row, is_told in reversed(found):
        message = Said(*row)
        if message.role == "user":
            of_open = message.conversation if is_told else None
        if message.conversation == of_open:
            said.append(message)
    return said


class _Known:
    """The workflows of an agent that nobody needs to be asked about."""

    def __init__(self, team_id: UUID, agent_id: UUID) -> None:
        asked = ConsentRequest.objects.filter(
            team_id=team_id, agent_id=agent_id, kind=ConsentRequest.Kind.WORKFLOW
        )
        expired = asked.filter(state=ConsentRequest.State.EXPIRED)
        self.expired = [set(row.source_message_ids) for row in expired]
        self.waiting = asked.filter(state=ConsentRequest.State.WAITING).count()
        rows = asked.exclude(state=ConsentRequest.State.EXPIRED)
        written = Memory.objects.live().filter(team_id=team_id, form=Form.WORKFLOW)
        of_agent = written.filter(agent_id=agent_id) | written.filter(agent_id__isnull=True)
        self.steps = [row.draft["payload"]["steps"] for row in rows.order_by("-id")[:500]]
        self.steps += [row["steps"] for row in of_agent.values_list("payload", flat=True)[:500]]

    def has(self, draft: MemoryDraft) -> bool:
        """Returns whether known steps contain the draft's, or the reverse, or it expired before."""
        steps = draft.payload["steps"]
        if any(set(draft.message_ids) <= ids for ids in self.expired):
            return True
        return any(
            holds_sequence(each, steps) or holds_sequence(steps, each) for each in self.steps
        )


def _draft(team_id: UUID, agent_id: UUID, found: Workflow, now: datetime) -> MemoryDraft | None:
    """Returns the memory that a yes writes; None where it holds only a secret, or instructions."""
    try:
        safe = safe_statement(
            text="", text_field="content", form=Form.WORKFLOW, payload=found.payload
        )
    except InvalidError:
        return None
    if is_command(text=safe.text) or len(safe.text) > settings.MAX_CONTENT_CHARS:
        return None
    calls = [call for time in found.times for call in time]
    talks = {call.message.conversation for call in calls}
    rows = Conversation.objects.filter(team_id=team_id, pk__in=talks)
    owners = list(rows.values_list("end_user_id", "project_id"))
    person_id = _only(person for person, _ in owners)
    return MemoryDraft(
        team_id=team_id,
        content=safe.text,
        memory_type=MemoryType.PROCEDURAL,
        importance=IMPORTANCE,
        extractor="workflows",
        created_at=now,
        agent_id=agent_id if person_id else None,
        author_id=agent_id,
        end_user_id=person_id,
        project_id=_only(project for _, project in owners),
        # A guest is not told what is of a conversation of others.
        conversation_id=_only(talks) if person_id else calls[-1].message.conversation,
        message_ids=tuple(dict.fromkeys(call.message.id for call in calls))[-_MOST_SOURCES:],
        needs_consent=False,
        form=Form.WORKFLOW,
        payload=safe.payload,
    )


def _only(ids: Iterable[UUID | None]) -> UUID | None:
    different = set(ids)
    return different.pop() if len(different) == 1 else None


def _propose(draft: MemoryDraft, found: Workflow, now: datetime) -> ConsentRequest:
    steps = "\n".join(draft.payload["steps"])
    return new_request(
        draft=draft,
        signals=[
            Signal(time[0].message.conversation, now.date(), (time[0].message.id,))
            for time in found.times
        ],
        now=now,
        kind=ConsentRequest.Kind.WORKFLOW,
        end_user_id=draft.end_user_id,
        field=FIELD,
        value_key=hashlib.sha256(steps.encode()).digest(),
        agent_id=draft.author_id,
        heard_by_id=draft.author_id,
        proposed_by=ACTOR,
    )
