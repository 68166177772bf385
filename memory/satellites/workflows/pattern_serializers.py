"""Code to learn patterns from, and what was learned."""

from __future__ import annotations

from rest_framework import serializers

from memory.api.fields import NameField, TextField
from memory.api.serializers.base import ApiSerializer, StrictSerializer
from memory.api.serializers.memories import WrittenMemorySerializer
from memory.satellites.workflows.pattern_learning import MAX_FILE_CHARS, MAX_FILES, MAX_TOTAL_CHARS

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
        if sum(len(each["text"]) for each in value) > MAX_TOTAL_CHARS:
            raise serializers.ValidationError(
                f"The texts may have at most {MAX_TOTAL_CHARS:,} characters in all."
            )
        return value


class SkippedFileSerializer(ApiSerializer):
    """A file that was not learned from."""

    path = serializers.CharField()
    reason = serializers.CharField()


class LearnedSerializer(ApiSerializer):
    """What came of the files."""

    learned = WrittenMemorySerializer(many=True, help_text="New patterns, the best first.")
    strengthened = WrittenMemorySerializer(
        many=True, help_text="Known patterns that stand in further places: their new versions."
    )
    unchanged = serializers.IntegerField(help_text="Known patterns found where they stood.")
    skipped = SkippedFileSerializer(many=True)
