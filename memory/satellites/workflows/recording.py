"""A workflow is recorded: begun, step by step, and finished as a memory or discarded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet

from memory.domain.audience import Viewer
from memory.domain.forms import Form, Payload, rendered, texts_of
from memory.domain.types import MemoryType
from memory.models.querysets import in_projects_q
from memory.satellites.workflows.models import WorkflowRecording
from memory.understanding.tools import Tools
from memory.writing.background import retried
from memory.writing.drafts import WriteResult
from memory.writing.secrets import masked_note
from memory.writing.stating import StatedMemory, remember
from teams.errors import ConflictError, DomainError, NotFoundError, TooLargeError
from teams.services.people import ensure_agent, ensure_project
from teams.tenancy import team_scope

MOST_STEPS = 200
MOST_OPEN = 100
# What the column holds.
_MOST_TRIGGER_CHARS = 200
State = WorkflowRecording.State


@dataclass(frozen=True, slots=True)
class NewWorkflow:
    """The purpose of a workflow, and its owner: the named agent, or else all agents."""

    trigger: str
    agent: str | None = None
    project: str | None = None


def state_workflow(
    *,
    viewer: Viewer,
    workflow: NewWorkflow,
    payload: Payload,
    tools: Tools,
    now: datetime,
    reason: str = "",
    external_id: str | None = None,
) -> WriteResult:
    """Write a workflow as a procedural memory of its form; raises as `remember`."""
    stated = StatedMemory(
        memory_type=MemoryType.PROCEDURAL,
        agent=workflow.agent,
        project=workflow.project,
        form=Form.WORKFLOW,
        payload=payload,
        external_id=external_id,
    )
    (result,) = remember(
        viewer=viewer, stated=[stated], tools=tools, now=now, reason=reason, prefix=False
    )
    return result


@retried
def start_recording(*, viewer: Viewer, workflow: NewWorkflow, now: datetime) -> WorkflowRecording:
    """Begins to record; ConflictError where the team has as many under way as it may."""
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        rows = WorkflowRecording.objects.filter(team_id=viewer.team_id, state=State.RECORDING)
        if rows.count() >= MOST_OPEN:
            raise ConflictError(
                f"{MOST_OPEN} recordings are under way: finish or discard one of them first."
            )
        team_id, agent, project = viewer.team_id, workflow.agent, workflow.project
        return WorkflowRecording.objects.create(
            team_id=team_id,
            trigger=masked_note(workflow.trigger, most=_MOST_TRIGGER_CHARS),
            agent=ensure_agent(team_id=team_id, slug=agent) if agent else None,
            author_id=viewer.agent_id,
            project=ensure_project(team_id=team_id, slug=project, among=viewer.project_ids)
            if project
            else None,
            created_at=now,
        )


def recordings_visible_to(viewer: Viewer) -> QuerySet[WorkflowRecording, WorkflowRecording]:
    """The recordings of the team, or those that are the viewer's agent's or made by it."""
    rows = WorkflowRecording.objects.filter(team_id=viewer.team_id)
    if viewer.agent_id is not None:
        rows = rows.filter(Q(agent_id=viewer.agent_id) | Q(author_id=viewer.agent_id))
    return rows.filter(in_projects_q(viewer)).select_related("agent", "project")


def recording_for(*, viewer: Viewer, recording_id: UUID) -> WorkflowRecording:
    """The recording; NotFoundError where the viewer may not see it. Call it in scope."""
    row = recordings_visible_to(viewer).filter(pk=recording_id).first()
    if row is None:
        raise NotFoundError("There is no such recording.")
    return row


@retried
def record_step(
    *, viewer: Viewer, recording_id: UUID, name: str, detail: str = ""
) -> WorkflowRecording:
    """Note the next step, secrets masked.

    Raises NotFoundError, ConflictError where the recording ended, and TooLargeError where it holds
    as many steps or characters as a workflow may.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        row = _open(viewer, recording_id)
        row.steps = [*row.steps, {"name": masked_note(name), "detail": masked_note(detail)}]
        if len(row.steps) > MOST_STEPS:
            raise TooLargeError(f"A workflow has at most {MOST_STEPS} steps.", field="name")
        payload = payload_of(row)
        text = rendered(Form.WORKFLOW, payload)
        if max(len(text), sum(map(len, texts_of(payload)))) > settings.MAX_CONTENT_CHARS:
            most = settings.MAX_CONTENT_CHARS
            raise TooLargeError(f"A workflow has at most {most:,} characters.", field="detail")
        row.save(update_fields=["steps"])
        return row


@retried
def discard_recording(*, viewer: Viewer, recording_id: UUID, now: datetime) -> WorkflowRecording:
    """Drop a recording with its steps; raises NotFoundError and ConflictError."""
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        row = _open(viewer, recording_id)
        row.steps = []
        _end(row, State.DISCARDED, now)
        return row


def finish_recording(
    *, viewer: Viewer, recording_id: UUID, tools: Tools, now: datetime
) -> WriteResult:
    """Write what was recorded as a memory, once.

    One that was interrupted on the way is completed, not written twice. Raises NotFoundError,
    ConflictError where it ended or has no step, and as `remember`, which leaves it open.
    """
    row = _closing(viewer, recording_id, now)
    agent, project = (each.slug if each else None for each in (row.agent, row.project))
    try:
        result = state_workflow(
            viewer=viewer,
            workflow=NewWorkflow(row.trigger, agent=agent, project=project),
            payload=payload_of(row),
            tools=tools,
            now=now,
            reason="recorded step by step",
            external_id=f"workflow-recording:{row.pk}",
        )
    except DomainError:
        _note(row, viewer, state=State.RECORDING, ended_at=None)
        raise
    _note(row, viewer, memory=result.memory)
    return result


def payload_of(row: WorkflowRecording) -> Payload:
    """The recording as a workflow; what was noted of a step each time stands with its name."""
    details: dict[str, list[str]] = {}
    for step in row.steps:
        if step["detail"] and step["detail"] not in details.get(step["name"], ()):
            details.setdefault(step["name"], []).append(step["detail"])
    told = {name: "\n".join(texts) for name, texts in details.items()}
    names: Sequence[str] = [step["name"] for step in row.steps]
    return {"trigger": row.trigger, "steps": names, **({"details": told} if told else {})}


@retried
def _closing(viewer: Viewer, recording_id: UUID, now: datetime) -> WorkflowRecording:
    """The recording, which takes no further step from now on."""
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        row = _open(viewer, recording_id, or_interrupted=True)
        if not row.steps:
            raise ConflictError("It has no step yet: record one, or discard it.")
        if row.state == State.RECORDING:
            _end(row, State.FINISHED, now)
        return row


@retried
def _note(row: WorkflowRecording, viewer: Viewer, **fields: object) -> None:
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        WorkflowRecording.objects.filter(team_id=row.team_id, pk=row.pk).update(**fields)


def _end(row: WorkflowRecording, state: str, now: datetime) -> None:
    row.state, row.ended_at = state, now
    row.save(update_fields=["state", "ended_at", "steps"])


def _open(viewer: Viewer, recording_id: UUID, *, or_interrupted: bool = False) -> WorkflowRecording:
    """The recording, locked; ConflictError where it ended."""
    seen = recording_for(viewer=viewer, recording_id=recording_id)
    rows = WorkflowRecording.objects.select_for_update(of=("self",))
    row = rows.select_related("agent", "project").get(team_id=seen.team_id, pk=seen.pk)
    is_interrupted = row.state == State.FINISHED and row.memory_id is None
    if row.state != State.RECORDING and not (or_interrupted and is_interrupted):
        raise ConflictError(f"The recording is {row.state} already.")
    return row
