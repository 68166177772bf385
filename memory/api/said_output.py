"""What the API answers with where messages are found beside memories."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from memory.api.output import (
    LEVELS,
    ContradictionSerializer,
    FoundMemorySerializer,
    PackedMemorySerializer,
    RetrievalStatsSerializer,
    SignalsSerializer,
)
from memory.domain.said import SPEAKING_ROLES
from memory.models import Memory
from memory.services.cascade import Level, ScoredMessage
from memory.services.recall import ScoredMemory

RAW = [("raw", "raw")]
SPEAKERS = [(role, role) for role in SPEAKING_ROLES]


def found_memory(item: ScoredMemory) -> Memory:
    """The memory carrying its score, signals and tokens for the serializer."""
    memory = item.memory
    memory.level = item.level  # type: ignore[attr-defined]
    memory.score = item.score  # type: ignore[attr-defined]
    memory.signals = item.signals  # type: ignore[attr-defined]
    memory.tokens = item.tokens  # type: ignore[attr-defined]
    return memory


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

    def to_representation(self, instance: ScoredMessage) -> dict[str, Any]:
        """The message, marked as raw."""
        return super().to_representation(_Shown(instance))


class _Shown:
    """A found message with its level, as the serializer reads it."""

    level = Level.RAW.value

    def __init__(self, message: ScoredMessage) -> None:
        self._message = message

    def __getattr__(self, name: str) -> Any:  # Any: whatever the message holds
        return getattr(self._message, name)


class PackedMessageSerializer(FoundMessageSerializer):
    """A message quoted in a prompt, with the tokens that its line takes there."""

    tokens = serializers.IntegerField()


class SearchSerializer(serializers.Serializer[Any]):
    """What was found, best first; `level` says where each comes from: raw is a message."""

    results = serializers.SerializerMethodField()
    searched = serializers.ListField(
        child=serializers.ChoiceField(choices=LEVELS), help_text="The levels that were looked at."
    )

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
            FoundMemorySerializer(found_memory(each)).data
            if isinstance(each, ScoredMemory)
            else FoundMessageSerializer(each).data
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
