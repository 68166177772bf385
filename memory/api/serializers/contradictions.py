"""Contradictions: listed, settled, and shown beside what was found."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from rest_framework import serializers

from memory.api.fields import OneOfField, StatementField, TextField
from memory.api.serializers.base import ApiSerializer, PageQuerySerializer, StrictSerializer
from memory.api.serializers.memories import OUTCOMES, WARNINGS
from memory.domain.judgements import MERGED
from memory.models import Contradiction
from memory.models.relation import RESOLUTIONS, VERDICTS


class ContradictionFilterSerializer(PageQuerySerializer):
    """Which contradictions to list."""

    state = OneOfField(choices=["open", "resolved", "all"], required=False, default="open")
    verdict = OneOfField(choices=VERDICTS, required=False)
    memory = serializers.UUIDField(required=False, help_text="Those that involve this memory.")


class ResolutionSerializer(StrictSerializer):
    """How a contradiction is resolved; a merge gives the merged text."""

    resolution = OneOfField(choices=RESOLUTIONS)
    note = TextField(required=False, allow_blank=True, allow_null=True, max_length=2000)
    merged_content = StatementField(required=False, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A merged text belongs to a merge, else it would be lost without a word."""
        if attrs.get("merged_content") and attrs["resolution"] != MERGED:
            raise serializers.ValidationError(
                {"merged_content": ['Only a resolution of "merged" takes a text.']}
            )
        return attrs


class UndoSerializer(StrictSerializer):
    """Why a resolution is taken back."""

    note = TextField(required=False, allow_blank=True, allow_null=True, max_length=2000)


class ContradictionSerializer(ApiSerializer):
    """Two memories that conflict, and how the conflict was judged and resolved."""

    id = serializers.UUIDField(
        allow_null=True,
        help_text="null if it was only noticed now, among the results of a retrieval.",
    )
    memory_a = serializers.UUIDField(source="memory_a_id")
    memory_b = serializers.UUIDField(
        source="memory_b_id",
        allow_null=True,
        help_text="The later memory; null when somebody reported that memory_a is wrong.",
    )
    content_a = serializers.CharField(source="memory_a.content")
    content_b = serializers.CharField(source="memory_b.content", default=None, allow_null=True)
    strategy = serializers.CharField()
    judge = serializers.CharField()
    verdict = serializers.CharField()
    reason = serializers.CharField()
    detected_at = serializers.DateTimeField()
    resolution = serializers.CharField()
    resolution_note = serializers.CharField()
    resolved_by = serializers.CharField()
    resolved_at = serializers.DateTimeField(allow_null=True)
    snoozed_until = serializers.DateTimeField(
        allow_null=True, default=None, help_text="Until then the review queue leaves it out."
    )
    merged_memory = serializers.SerializerMethodField(
        help_text="For a merge, the memory that replaced both sides; it may be an existing one."
    )

    def get_merged_memory(self, row: Contradiction) -> UUID | None:
        """What superseded the first side, which only a merge of both does."""
        return row.memory_a.superseded_by_id if row.resolution == MERGED else None


class SettledContradictionSerializer(ContradictionSerializer):
    """The resolved contradiction and, for a merge, how its text was stored."""

    outcome = serializers.ChoiceField(choices=OUTCOMES, allow_null=True)
    warnings = serializers.ListField(child=serializers.CharField(), help_text=WARNINGS)


class UndoneSettlementSerializer(ContradictionSerializer):
    """The contradiction, open again, and the ids of others that had ended with it."""

    reopened = serializers.ListField(
        child=serializers.UUIDField(), help_text="Contradictions that are open again with it."
    )
