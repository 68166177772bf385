"""Workflows that are stated, and recordings of those that are carried out."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from memory.api.fields import NameField, OneOfField, StatementField, TextField
from memory.api.serializers.base import ApiSerializer, PageQuerySerializer, StrictSerializer
from memory.api.serializers.forms import (
    MAX_NAME_CHARS,
    WorkflowPayloadSerializer,
    check_length,
)
from memory.domain.forms import Form
from memory.satellites.workflows.models import WorkflowRecording

STATES = WorkflowRecording.State.choices
RECORDING_FILTERS = [*STATES, ("all", "All")]
_AGENT = "Whose it is alone, created when new; all agents' without one."
_PROJECT = "To which it belongs, created when new."


class NewWorkflowSerializer(WorkflowPayloadSerializer):
    """A workflow to store: its trigger, its steps in order, and what to do in each."""

    agent = NameField(required=False, allow_null=True, help_text=_AGENT)
    project = NameField(required=False, allow_null=True, help_text=_PROJECT)
    reason = TextField(required=False, allow_blank=True, allow_null=True, max_length=2000)

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
    """Which recordings to list."""

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
