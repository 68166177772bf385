"""The API of workflows, recordings and patterns."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import path
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from memory.api.base import WITH_CONFLICT, Given, operation
from memory.api.fields import NameField, NoteField, OneOfField, StatementField, TextField
from memory.api.forms import MAX_NAME_CHARS, WorkflowPayloadSerializer, check_length
from memory.api.memories import WrittenMemorySerializer
from memory.api.memory_views import MemoryWrites, code_of
from memory.api.request_events import write_event
from memory.api.schemas import (
    ApiSerializer,
    PageQuerySerializer,
    QuerySerializer,
    StrictSerializer,
    check_total_length,
    page_schema,
)
from memory.domain.forms import Form
from memory.satellites.workflows.models import WorkflowRecording
from memory.satellites.workflows.pattern_learning import (
    MAX_FILE_CHARS,
    MAX_FILES,
    MAX_TOTAL_CHARS,
    CodeFile,
    learn_patterns,
)
from memory.satellites.workflows.recording import (
    NewWorkflow,
    discard_recording,
    finish_recording,
    record_step,
    recording_for,
    recordings_visible_to,
    start_recording,
    state_workflow,
)
from memory.understanding.tools import default_tools
from memory.writing.drafts import WriteResult

STATES = WorkflowRecording.State.choices
RECORDING_FILTERS = [*STATES, ("all", "All")]
_AGENT = "Whose it is alone, created when new; all agents' without one."
_PROJECT = "To which it belongs, created when new."


class NewWorkflowSerializer(WorkflowPayloadSerializer):
    """A workflow to store: its trigger, its steps in order, and what to do in each."""

    agent = NameField(required=False, allow_null=True, help_text=_AGENT)
    project = NameField(required=False, allow_null=True, help_text=_PROJECT)
    reason = NoteField()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Details are those of its steps, and all of it is as long as a memory may be."""
        attrs = super().validate(attrs)
        names = ("trigger", "steps", "details")
        payload: dict[str, Any] = {name: attrs[name] for name in names if name in attrs}
        check_length(Form.WORKFLOW, payload, gives_text=True, field="steps")
        return {**attrs, "payload": payload}


class NewRecordingSerializer(StrictSerializer):
    """A recording to begin."""

    trigger = NameField(max_length=MAX_NAME_CHARS, help_text="What the steps are taken for.")
    agent = NameField(required=False, allow_null=True, help_text=_AGENT)
    project = NameField(required=False, allow_null=True, help_text=_PROJECT)


class NewStepSerializer(StrictSerializer):
    """A step to record."""

    name = NameField(max_length=MAX_NAME_CHARS)
    detail = StatementField(required=False, help_text="What was done, such as the command.")


class RecordedStepSerializer(ApiSerializer):
    """A step that was taken."""

    name = serializers.CharField()
    detail = serializers.CharField(required=False, help_text="What was done, such as the command.")


class RecordingFilterSerializer(PageQuerySerializer):
    """Filters of the list of recordings."""

    status = OneOfField(choices=RECORDING_FILTERS, required=False, default="recording")


class RecordingSerializer(ApiSerializer):
    """A recording."""

    id = serializers.UUIDField()
    trigger = serializers.CharField()
    agent = serializers.CharField(source="agent.slug", default=None, allow_null=True)
    project = serializers.CharField(source="project.slug", default=None, allow_null=True)
    status = serializers.ChoiceField(choices=STATES, source="state")
    steps = RecordedStepSerializer(many=True, help_text="In order; none once it was discarded.")
    memory = serializers.UUIDField(
        source="memory_id", allow_null=True, help_text="What was made of it."
    )
    created_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


RecordingPage = page_schema("RecordingPage", RecordingSerializer)
_WRITTEN = {
    201: WrittenMemorySerializer,
    200: (WrittenMemorySerializer, "A duplicate: the existing memory."),
}


class _Workflows(MemoryWrites):
    """Base of the views that write a workflow as a memory."""

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

    @operation(
        "workflows_create", body=NewWorkflowSerializer, answer=_WRITTEN, refuses=(403, 409, 422)
    )
    def create(self, given: Given) -> Response:
        """Store a workflow: a procedural memory of the form `workflow`, as `POST /v1/memories`.

        Its text is a hint in a line, such as "deploy: test → build → prod". Agents are told it
        where they ask for procedural memories, and not in talk.
        """
        return self._answer(
            state_workflow(
                viewer=self.viewer,
                workflow=self._new(given),
                payload=given["payload"],
                tools=default_tools(),
                now=timezone.now(),
                reason=given["reason"],
            )
        )


class RecordingViewSet(_Workflows):
    """Workflows that are recorded while they are carried out."""

    lookup_value_converter = "uuid"
    memory_actions = ("list", "create", "retrieve", "steps", "finish", "discard")
    operations = {"finish": ("hotpath", "create")}

    @operation(query=RecordingFilterSerializer, answer=RecordingPage, refuses=(403, 422))
    def list(self, given: Given) -> Response:
        """Recordings, the latest first; those under way by default.

        A key of one agent sees those of that agent and those that it began.
        """
        with self.team_scope():
            rows = recordings_visible_to(self.viewer)
            if given["status"] != "all":
                rows = rows.filter(state=given["status"])
            return self.page(rows, RecordingSerializer)

    @operation(
        body=NewRecordingSerializer, answer={201: RecordingSerializer}, refuses=(403, 409, 422)
    )
    def create(self, given: Given) -> Response:
        """Begin to record; nothing is a memory before the recording is finished.

        A recording is kept until it is finished or discarded. 409 where the team has 100 under way.
        """
        row = start_recording(viewer=self.viewer, workflow=self._new(given), now=timezone.now())
        return Response(RecordingSerializer(row).data, status=status.HTTP_201_CREATED)

    @operation(query=QuerySerializer, answer=RecordingSerializer)
    def retrieve(self, given: Given, pk: UUID) -> Response:
        """One recording, also one that ended."""
        with self.team_scope():
            row = recording_for(viewer=self.viewer, recording_id=pk)
            return Response(RecordingSerializer(row).data)

    @operation(
        body=NewStepSerializer, answer={201: RecordingSerializer}, refuses=(403, 404, 409, 413, 422)
    )
    @action(detail=True, methods=["post"])
    def steps(self, given: Given, pk: UUID) -> Response:
        """Note the step that was taken, at most 200; secrets in it are masked."""
        row = record_step(
            viewer=self.viewer,
            recording_id=pk,
            name=given["name"],
            detail=given.get("detail", ""),
        )
        return Response(RecordingSerializer(row).data, status=status.HTTP_201_CREATED)

    @operation(answer=_WRITTEN, refuses=WITH_CONFLICT)
    @action(detail=True, methods=["post"])
    def finish(self, given: Given, pk: UUID) -> Response:
        """Make a memory of what was recorded, as `POST /v1/workflows` does.

        409 where it has no step or has ended; one whose finishing was interrupted is completed.
        """
        result = finish_recording(
            viewer=self.viewer, recording_id=pk, tools=default_tools(), now=timezone.now()
        )
        return self._answer(result)

    @operation(answer=RecordingSerializer, refuses=WITH_CONFLICT)
    @action(detail=True, methods=["post"])
    def discard(self, given: Given, pk: UUID) -> Response:
        """Drop a recording and its steps; no memory is made."""
        row = discard_recording(viewer=self.viewer, recording_id=pk, now=timezone.now())
        return Response(RecordingSerializer(row).data)


MAX_PATH_CHARS = 450


class CodeFileSerializer(StrictSerializer):
    """A file of source code."""

    path = NameField(
        max_length=MAX_PATH_CHARS,
        help_text="In the repository; its ending says the language.",
    )
    text = TextField(max_length=MAX_FILE_CHARS, allow_blank=True)


class LearnSerializer(StrictSerializer):
    """Files of a project."""

    files = serializers.ListField(
        child=CodeFileSerializer(),
        min_length=1,
        max_length=MAX_FILES,
        help_text=f"Of at most {MAX_TOTAL_CHARS:,} characters in all.",
    )
    project = NameField(help_text="Whose patterns they are; created when new.")
    agent = NameField(
        required=False, allow_null=True, help_text="Who learns them; created when new."
    )

    def validate_files(self, value: list[dict[str, str]]) -> list[dict[str, str]]:
        """Each path once, and not too much in all."""
        if len({each["path"] for each in value}) < len(value):
            raise serializers.ValidationError("Send each path once.")
        check_total_length((each["text"] for each in value), most=MAX_TOTAL_CHARS)
        return value


class SkippedFileSerializer(ApiSerializer):
    """A file that was not learned from."""

    path = serializers.CharField()
    reason = serializers.CharField()


class LearnedSerializer(ApiSerializer):
    """The result of learning from the files."""

    learned = WrittenMemorySerializer(many=True, help_text="New patterns, the best first.")
    strengthened = WrittenMemorySerializer(
        many=True, help_text="Known patterns that stand in further places: their new versions."
    )
    unchanged = serializers.IntegerField(help_text="Known patterns found where they stood.")
    skipped = SkippedFileSerializer(many=True)


class PatternViewSet(MemoryWrites):
    """Patterns by which a project builds things."""

    memory_actions = ("learn",)

    @operation(
        "patterns_learn",
        body=LearnSerializer,
        answer=LearnedSerializer,
        refuses=(403, 409, 413, 422),
    )
    def learn(self, given: Given) -> Response:
        """Learn the shapes of code that repeat: three times or more, in two files or more.

        Python, TypeScript and Go. Each becomes a memory of the form `pattern` of the
        project, with what varies as named parts and its places as artifacts, at most 20 new ones a
        call. The same shape again strengthens the pattern. Files that cannot be read are skipped.
        """
        done = learn_patterns(
            viewer=self.viewer,
            project=given["project"],
            files=[CodeFile(**each) for each in given["files"]],
            tools=default_tools(),
            now=timezone.now(),
            agent=given.get("agent"),
        )
        self.noted(write_event(each) for each in (*done.new, *done.strengthened))
        return Response(
            {
                "learned": self.written(done.new),
                "strengthened": self.written(done.strengthened),
                "unchanged": done.unchanged,
                "skipped": [{"path": path, "reason": why} for path, why in done.skipped],
            }
        )


router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("workflows/recordings", RecordingViewSet, basename="workflow-recording")
urlpatterns = [
    path("patterns/learn", PatternViewSet.as_view({"post": "learn"}), name="patterns-learn"),
    path("workflows", WorkflowViewSet.as_view({"post": "create"}), name="workflows"),
    *router.urls,
]
