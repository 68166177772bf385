"""Signals of work in progress, and the memories that they predict."""

from __future__ import annotations

from rest_framework import serializers

from memory.api.fields import NameField, StrictIntegerField
from memory.api.serializers.base import ApiSerializer
from memory.api.serializers.memories import MemorySerializer
from memory.api.serializers.work import WorkSerializer

MAX_PREDICTED = 100


class PredictSerializer(WorkSerializer):
    """What is in front of the agent; at least one signal of it."""

    agent = NameField()
    user = NameField(required=False, allow_null=True, max_length=200)
    project = NameField(required=False, allow_null=True)
    limit = StrictIntegerField(required=False, default=20, min_value=1, max_value=MAX_PREDICTED)


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
