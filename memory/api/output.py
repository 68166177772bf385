"""What the API answers with of memories: explicit shapes, apart from what it takes in."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory.models import Memory
from memory.models.memory import MEMORY_TYPES, SCOPES, STATUSES, TIERS
from memory.services.reading.cascade import Level
from memory.services.writing.drafts import Outcome, WriteResult

LEVELS = [(level.value, level.value) for level in Level]


class ProvenanceSerializer(serializers.Serializer[Any]):
    """Where a memory comes from."""

    conversation = serializers.UUIDField(allow_null=True)
    message_ids = serializers.ListField(child=serializers.UUIDField())
    external_ids = serializers.ListField(child=serializers.CharField())
    extractor = serializers.CharField()
    actor = serializers.CharField()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # `pass` is a word of Python, so it cannot stand above.
        return {**super().get_fields(), "pass": serializers.IntegerField(allow_null=True)}


class UsageSerializer(serializers.Serializer[Any]):
    """How often it was of use; written down in batches, so a few seconds old."""

    retrieved = serializers.IntegerField()
    cited = serializers.IntegerField()
    ignored = serializers.IntegerField()
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField()
    last_accessed_at = serializers.DateTimeField(allow_null=True)


class MemorySerializer(serializers.Serializer[Any]):
    """A memory, its state and its provenance."""

    id = serializers.UUIDField()
    content = serializers.CharField()
    memory_type = serializers.ChoiceField(choices=MEMORY_TYPES)
    scope = serializers.ChoiceField(choices=SCOPES)
    category = serializers.CharField()
    subject = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    importance = serializers.IntegerField()
    confidence = serializers.FloatField()
    corroboration = serializers.IntegerField(
        help_text="How often it was said again; provenance names the messages of each time."
    )
    is_pinned = serializers.BooleanField()
    status = serializers.ChoiceField(choices=STATUSES)
    tier = serializers.ChoiceField(choices=TIERS)
    version = serializers.IntegerField()
    supersedes = serializers.UUIDField(source="supersedes_id", allow_null=True)
    superseded_by = serializers.UUIDField(source="superseded_by_id", allow_null=True)
    contradicts = serializers.ListField(child=serializers.UUIDField())
    agent = serializers.CharField(source="agent.slug", default=None, allow_null=True)
    user = serializers.CharField(source="end_user.external_id", default=None, allow_null=True)
    project = serializers.CharField(source="project.slug", default=None, allow_null=True)
    provenance = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    valid_from = serializers.DateTimeField(allow_null=True)
    valid_to = serializers.DateTimeField(allow_null=True)
    external_id = serializers.CharField(allow_null=True)
    usage = serializers.SerializerMethodField()

    @extend_schema_field(ProvenanceSerializer)
    def get_provenance(self, memory: Memory) -> dict[str, Any]:
        """Conversation, exact messages, extractor and who wrote it."""
        return {
            "conversation": memory.conversation_id,
            "message_ids": memory.source_message_ids,
            "external_ids": memory.source_external_ids,
            "extractor": memory.extractor,
            "pass": memory.extraction_pass,
            "actor": memory.actor,
        }

    @extend_schema_field(UsageSerializer)
    def get_usage(self, memory: Memory) -> dict[str, Any]:
        """The counters, zero for a memory that was never read."""
        usage = getattr(memory, "usage", None)
        names = ("retrieved", "cited", "ignored", "succeeded", "failed")
        shown: dict[str, Any] = {name: getattr(usage, name, 0) for name in names}
        shown["last_accessed_at"] = getattr(usage, "last_accessed_at", None)
        return shown


OUTCOMES = [(item.value, item.value) for item in Outcome]
WAS_MASKED = "The content held a key, password or card number; it was masked before it was stored."
NOT_STANDALONE = (
    "Stored as worded, but a memory is found and understood best as one or two sentences of at most"
    " 280 characters, in the third person, with names and dates. This one: {how}."
)
WARNINGS = "What the caller should know of how it was stored; empty when it was stored as sent."


def warnings_of(result: WriteResult) -> list[str]:
    """What the caller should know of how a memory was stored."""
    warnings = [WAS_MASKED] if result.secret_masked else []
    if result.wording:
        warnings.append(NOT_STANDALONE.format(how=", ".join(result.wording)))
    return warnings


class WrittenMemorySerializer(MemorySerializer):
    """A memory and what the write did."""

    outcome = serializers.ChoiceField(choices=OUTCOMES)
    warnings = serializers.ListField(child=serializers.CharField(), help_text=WARNINGS)


class ReadMemorySerializer(MemorySerializer):
    """A memory read by its id, with what it was made of."""

    merged_from = serializers.ListField(
        child=serializers.UUIDField(),
        help_text="The memories that it was merged from; each is superseded by it.",
    )


class RelatedMemorySerializer(MemorySerializer):
    """A memory at the other end of an edge."""

    relation_type = serializers.CharField()
    strength = serializers.FloatField(help_text="0-1")


class RelatedSerializer(serializers.Serializer[Any]):
    """Related memories, the strongest first."""

    results = RelatedMemorySerializer(many=True)


class PartsSerializer(serializers.Serializer[Any]):
    """What each part of relevance adds to `semantic`, which is their sum, but for rounding."""

    words = serializers.FloatField(help_text="Words of the question in the text, rare ones more.")
    meaning = serializers.FloatField(help_text="The likeness of the text's vector.")
    neighbours = serializers.FloatField(
        help_text="What is lent by memories and messages near it in its conversation."
    )
    person = serializers.FloatField(help_text="Whether it is by or about the person asked about.")
    time = serializers.FloatField(help_text="How near it lies to the time asked about.")
    event = serializers.FloatField(help_text="Whether it is on the asked side of an event.")


class SignalsSerializer(serializers.Serializer[Any]):
    """Why a memory was found: the five signals 0-1, and what lies behind `semantic`."""

    semantic = serializers.FloatField()
    recency = serializers.FloatField()
    importance = serializers.FloatField()
    continuity = serializers.FloatField()
    relation = serializers.FloatField()
    cosine = serializers.FloatField(help_text="Of its vector and the question's.")
    lexical = serializers.FloatField(
        help_text="The share of the question's words, by their rarity, in it and its neighbours."
    )
    parts = PartsSerializer()


class FoundMemorySerializer(MemorySerializer):
    """A memory with its score 0-1 and the signals behind it."""

    level = serializers.ChoiceField(
        choices=LEVELS,
        help_text="Where it comes from; what is past comes from cold.",
    )
    score = serializers.FloatField()
    signals = SignalsSerializer()


class PackedMemorySerializer(FoundMemorySerializer):
    """A memory in a prompt, with the tokens it takes there."""

    tokens = serializers.IntegerField()


class RetrievalStatsSerializer(serializers.Serializer[Any]):
    """What a retrieval took."""

    tokens_used = serializers.IntegerField()
    token_budget = serializers.IntegerField()
    signals_hit = serializers.DictField(child=serializers.IntegerField())
    cache_hit = serializers.BooleanField()
    total_ms = serializers.FloatField()
    steps_ms = serializers.DictField(child=serializers.FloatField())
    warnings = serializers.ListField(child=serializers.CharField())
    token_counter = serializers.CharField(
        help_text="estimate (characters / 3.5), or tiktoken with its encoding: an exact count."
    )
    searched = serializers.ListField(
        child=serializers.ChoiceField(choices=LEVELS), help_text="The levels that were looked at."
    )


class ProblemSerializer(serializers.Serializer[Any]):
    """A refusal, as application/problem+json."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # `errors` is a property of every serializer, so it cannot stand above.
        messages = serializers.ListField(child=serializers.CharField())
        return {
            **super().get_fields(),
            "errors": serializers.DictField(child=messages, required=False),
        }
