"""What the API answers with of contradictions."""

from __future__ import annotations

from uuid import UUID

from rest_framework import serializers

from memory.api.output import OUTCOMES, WARNINGS
from memory.domain.decided import MERGED
from memory.models import Contradiction


class ContradictionSerializer(serializers.Serializer[Contradiction]):
    """Two memories that conflict, and what was said of it."""

    id = serializers.UUIDField(
        allow_null=True,
        help_text="null for one that was seen only now, among what a retrieval found.",
    )
    memory_a = serializers.UUIDField(source="memory_a_id")
    memory_b = serializers.UUIDField(
        source="memory_b_id",
        allow_null=True,
        help_text="The later one; null when somebody said that memory_a is wrong.",
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
    merged_memory = serializers.SerializerMethodField(
        help_text="For a merge what was written in place of both; another memory when that said so."
    )

    def get_merged_memory(self, row: Contradiction) -> UUID | None:
        """What superseded the first side, which only a merge of both does."""
        return row.memory_a.superseded_by_id if row.resolution == MERGED else None


class SettledContradictionSerializer(ContradictionSerializer):
    """A contradiction that was settled now and, for a merge, how its text was stored."""

    outcome = serializers.ChoiceField(choices=OUTCOMES, allow_null=True)
    warnings = serializers.ListField(child=serializers.CharField(), help_text=WARNINGS)
