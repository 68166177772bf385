"""Signals of work in progress, and the memories that they predict."""

from __future__ import annotations

from rest_framework import serializers

from memory.api.fields import ContentField, NameField, StrictIntegerField, ZonedDateTimeField
from memory.api.serializers.base import ApiSerializer, StrictSerializer
from memory.api.serializers.forms import MAX_REF_CHARS
from memory.api.serializers.memories import MemorySerializer

MAX_FILES = 50
MAX_PREDICTED = 100
_SIGNALS = ("file_opened", "opened_files", "branch", "error", "time", "collaborator")


class PredictSerializer(StrictSerializer):
    """What is in front of the agent; at least one signal of it."""

    agent = NameField()
    user = NameField(required=False, allow_null=True, max_length=200)
    project = NameField(required=False, allow_null=True)
    file_opened = NameField(required=False, max_length=MAX_REF_CHARS)
    opened_files = serializers.ListField(
        child=NameField(max_length=MAX_REF_CHARS),
        required=False,
        max_length=MAX_FILES,
        help_text="Paths that were opened before `file_opened`.",
    )
    branch = NameField(required=False, max_length=MAX_REF_CHARS)
    error = ContentField(required=False, max_length=2000)
    time = ZonedDateTimeField(
        required=False, help_text="The local time of the work. Nothing is predicted from it yet."
    )
    collaborator = NameField(required=False, max_length=200)
    limit = StrictIntegerField(required=False, default=20, min_value=1, max_value=MAX_PREDICTED)

    def validate(self, attrs: dict[str, object]) -> dict[str, object]:
        """Refuses a request without any signal."""
        if not any(attrs.get(name) for name in _SIGNALS):
            raise serializers.ValidationError(
                {"file_opened": f"Give at least one signal: {', '.join(_SIGNALS)}."}
            )
        return attrs


class PredictedMemorySerializer(MemorySerializer):
    """A memory that is likely to be needed."""

    prediction_confidence = serializers.FloatField(
        help_text="The chance (0-1) that it is needed; `confidence` is that of its truth."
    )
    why = serializers.ListField(child=serializers.CharField())


class PredictionSerializer(ApiSerializer):
    """Memories that are likely to be needed, likeliest first."""

    predicted_memories = PredictedMemorySerializer(many=True)
    confidence = serializers.FloatField(
        help_text="The chance (0-1) that at least one of them is needed."
    )
