"""Workflows: stated whole, or recorded step by step while they are carried out."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import answers, refusals
from memory.api.request_events import write_event
from memory.api.serializers.base import page_schema
from memory.api.serializers.memories import NoQuerySerializer, WrittenMemorySerializer
from memory.api.views.memory_changes import MemoryWrites, code_of
from memory.satellites.workflows.models import WorkflowRecording
from memory.satellites.workflows.recording import (
    NewWorkflow,
    discard_recording,
    finish_recording,
    record_step,
    recording_for,
    start_recording,
    state_workflow,
)
from memory.satellites.workflows.selectors import recordings_visible_to
from memory.satellites.workflows.serializers import (
    NewRecordingSerializer,
    NewStepSerializer,
    NewWorkflowSerializer,
    RecordingFilterSerializer,
    RecordingSerializer,
)
from memory.services.write.drafts import WriteResult
from memory.understanding.tools import default_tools

RecordingPage = page_schema("RecordingPage", RecordingSerializer)
_WRITTEN = {
    201: WrittenMemorySerializer,
    200: OpenApiResponse(WrittenMemorySerializer, description="A duplicate: the existing memory."),
}


class _Workflows(MemoryWrites):
    """What writes a workflow as a memory."""

    def _new(self, given: dict[str, Any]) -> NewWorkflow:  # Any: a checked body
        self.check_agent(given.get("agent"))
        return NewWorkflow(given["trigger"], agent=given.get("agent"), project=given.get("project"))

    def _answer(self, result: WriteResult) -> Response:
        self.noted([write_event(result)])
        (shown,) = self.written([result])
        return Response(shown, status=code_of(result))


class WorkflowViewSet(_Workflows):
    """Steps in order that agents take for something."""

    memory_actions = ("create",)
    operations = {"create": ("hotpath", "create")}

    @extend_schema(
        operation_id="workflows_create",
        request=NewWorkflowSerializer,
        responses={**_WRITTEN, **refusals(403, 409, 422)},
    )
    def create(self, request: Request) -> Response:
        """Store a workflow: a procedural memory of the form `workflow`, as `POST /v1/memories`.

        Its text is a hint in a line, such as "deploy: test → build → prod". Agents are told it
        where they ask for procedural memories, and not in talk.
        """
        given = self.body(NewWorkflowSerializer)
        return self._answer(
            state_workflow(
                viewer=self.viewer,
                workflow=self._new(given),
                payload=given["payload"],
                tools=default_tools(),
                now=timezone.now(),
                reason=given.get("reason") or "",
            )
        )


class RecordingViewSet(_Workflows):
    """Workflows that are recorded while they are carried out."""

    lookup_value_converter = "uuid"
    serializer_class = RecordingSerializer
    memory_actions = ("list", "create", "retrieve", "steps", "finish", "discard")
    operations = {"finish": ("hotpath", "create")}

    @extend_schema(
        parameters=[RecordingFilterSerializer], responses=answers(RecordingPage, 403, 422)
    )
    def list(self, request: Request) -> Response:
        """Recordings, the latest first; those under way by default.

        A key of one agent sees those of that agent and those that it began.
        """
        return self.listed(self._rows, filters=RecordingFilterSerializer, shown=RecordingSerializer)

    @extend_schema(
        request=NewRecordingSerializer,
        responses={201: RecordingSerializer, **refusals(403, 409, 422)},
    )
    def create(self, request: Request) -> Response:
        """Begin to record; nothing is a memory before the recording is finished.

        A recording is kept until it is finished or discarded. 409 where the team has 100 under way.
        """
        given = self.body(NewRecordingSerializer)
        row = start_recording(viewer=self.viewer, workflow=self._new(given), now=timezone.now())
        return Response(RecordingSerializer(row).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses=answers(RecordingSerializer, 403, 404, 422))
    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One recording, also one that ended."""
        self.params(NoQuerySerializer)
        with self.team_scope():
            row = recording_for(viewer=self.viewer, recording_id=pk)
            return Response(RecordingSerializer(row).data)

    @extend_schema(
        request=NewStepSerializer,
        responses={201: RecordingSerializer, **refusals(403, 404, 409, 413, 422)},
    )
    @action(detail=True, methods=["post"])
    def steps(self, request: Request, pk: UUID) -> Response:
        """Note the step that was taken, at most 200; secrets in it are masked."""
        given = self.body(NewStepSerializer)
        row = record_step(
            viewer=self.viewer,
            recording_id=pk,
            name=given["name"],
            detail=given.get("detail", ""),
        )
        return Response(RecordingSerializer(row).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses={**_WRITTEN, **refusals(403, 404, 409, 422)})
    @action(detail=True, methods=["post"])
    def finish(self, request: Request, pk: UUID) -> Response:
        """Make a memory of what was recorded, as `POST /v1/workflows` does.

        409 where it has no step or has ended; one whose finishing was interrupted is completed.
        """
        result = finish_recording(
            viewer=self.viewer, recording_id=pk, tools=default_tools(), now=timezone.now()
        )
        return self._answer(result)

    @extend_schema(request=None, responses=answers(RecordingSerializer, 403, 404, 409, 422))
    @action(detail=True, methods=["post"])
    def discard(self, request: Request, pk: UUID) -> Response:
        """Drop a recording and its steps; no memory is made."""
        row = discard_recording(viewer=self.viewer, recording_id=pk, now=timezone.now())
        return Response(RecordingSerializer(row).data)

    def _rows(self, given: dict[str, Any]) -> QuerySet[WorkflowRecording]:  # Any: checked filters
        rows = recordings_visible_to(self.viewer)
        return rows if given["status"] == "all" else rows.filter(state=given["status"])
