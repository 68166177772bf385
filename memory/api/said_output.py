"""What the API answers with where messages are found beside memories."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from memory.api.contradiction_output import ContradictionSerializer
from memory.api.output import (
    LEVELS,
    FoundMemorySerializer,
    PackedMemorySerializer,
    RetrievalStatsSerializer,
    SignalsSerializer,
)
from memory.api.plain_output import plain_found_memory, plain_found_message
from memory.domain.said import SPEAKING_ROLES
from memory.services.reading.recall import ScoredMemory

RAW = [("raw", "raw")]
SPEAKERS = [(role, role) for role in SPEAKING_ROLES]


class FoundMessageSerializer(serializers.Serializer[Any]):
    """A message of a conversation that was found itself: no memory that ranks higher says it."""

    id = serializers.UUIDField(help_text="The message's id.")
    level = serializers.ChoiceField(choices=RAW, help_text="raw: no memory.")
    conversation = serializers.UUIDField(source="conversation_id")
    position = serializers.IntegerField(help_text="Of the message in its conversation.")
    role = serializers.ChoiceField(choices=SPEAKERS)
    speaker = serializers.CharField(help_text="The name of the person or agent who said it.")
    said_at = serializers.DateTimeField()
    external_id = serializers.CharField(allow_null=True)
    content = serializers.CharField(
        source="text",
        help_text="What was said, without memory that was quoted, and with secrets masked; the"
        " conversation has every word.",
    )
    score = serializers.FloatField(help_text="0-1, on the scale of memories.")
    signals = SignalsSerializer()


class PackedMessageSerializer(FoundMessageSerializer):
    """A message quoted in a prompt, with the tokens that its line takes there."""

    tokens = serializers.IntegerField()


class SearchSerializer(serializers.Serializer[Any]):
    """What was found, best first; `level` says where each comes from: raw is a message."""

    results = serializers.SerializerMethodField()
    searched = serializers.ListField(
        child=serializers.ChoiceField(choices=LEVELS), help_text="The levels that were looked at."
    )
    warnings = serializers.ListField(child=serializers.CharField())

    @extend_schema_field(
        PolymorphicProxySerializer(
            component_name="Found",
            serializers=[FoundMemorySerializer, FoundMessageSerializer],
            resource_type_field_name=None,
            many=True,
        )
    )
    def get_results(self, answer: Any) -> list[dict[str, Any]]:
        """Memories and messages, best first."""
        return [
            plain_found_memory(each)
            if isinstance(each, ScoredMemory)
            else plain_found_message(each)
            for each in answer.results
        ]


class RetrievalSerializer(serializers.Serializer[Any]):
    """Memories and messages within the budget and the prompt made of them."""

    memories = PackedMemorySerializer(many=True)
    messages = PackedMessageSerializer(
        many=True, help_text="What was said itself, where no better memory says it."
    )
    formatted_prompt = serializers.CharField()
    stats = RetrievalStatsSerializer()
    contradictions = ContradictionSerializer(many=True)
