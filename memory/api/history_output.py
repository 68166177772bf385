"""What the history of a memory and the log look like."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from audit.models import EVENTS, MemoryLog
from memory.api.base import page_schema
from memory.api.conversation_output import MessageSerializer
from memory.api.fields import NameField, OneOfField, TextField, ZonedDateTimeField
from memory.api.output import MemorySerializer
from memory.api.parameters import QuerySerializer
from memory.selectors.looking_back.history import MAX_QUOTED

_HIDDEN = ("dedupe_key", "salt")


class FieldChangeSerializer(serializers.Serializer[Any]):
    """A field that a step changed; `from` is null for what a memory began with."""

    field = serializers.CharField()
    to = serializers.JSONField(source="after", allow_null=True)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # `from` is a word of Python, so it cannot stand above.
        before = serializers.JSONField(source="before", allow_null=True)
        fields = super().get_fields()
        return {"field": fields["field"], "from": before, "to": fields["to"]}


class LogEntrySerializer(serializers.Serializer[Any]):
    """One change of one memory, as the log has it."""

    seq = serializers.IntegerField()
    memory = serializers.UUIDField(source="memory_id")
    event = serializers.CharField()
    actor = serializers.CharField()
    reason = serializers.CharField()
    at = serializers.DateTimeField()
    conversation = serializers.UUIDField(source="conversation_id", allow_null=True)
    revision = serializers.IntegerField(allow_null=True, help_text="Of the conversation.")
    digest = serializers.SerializerMethodField(
        help_text="SHA-256 of the text after its salt, hexadecimal."
    )
    detail = serializers.JSONField(
        allow_null=True, help_text="What the state cannot say, as links."
    )

    @extend_schema_field(serializers.CharField())
    def get_digest(self, row: MemoryLog) -> str:
        """The digest in hexadecimal."""
        return bytes(row.digest).hex()


class LogEntryWithStateSerializer(LogEntrySerializer):
    """One change of one memory, with the memory's state after it."""

    state = serializers.SerializerMethodField(
        help_text="Every column after the change but the text, which stands in the memory."
    )

    @extend_schema_field(serializers.DictField())
    def get_state(self, row: MemoryLog) -> dict[str, Any]:
        """The state without what only the database is concerned with."""
        return {key: value for key, value in row.state.items() if key not in _HIDDEN}


class StepSerializer(serializers.Serializer[Any]):
    """One change of one version, with what it changed."""

    version = serializers.IntegerField()
    changes = FieldChangeSerializer(many=True)
    text_diff = serializers.CharField(
        help_text="What a new version made of the text before: [-what went-]{+what came+}. Empty"
        " where no text came."
    )
    entry = LogEntrySerializer(source="row")


class QuotedMessageSerializer(MessageSerializer):
    """A message that a memory rests on."""

    conversation = serializers.UUIDField(source="conversation_id")


class VersionSerializer(serializers.Serializer[Any]):
    """One version with its provenance down to what was said."""

    memory = MemorySerializer()
    messages = QuotedMessageSerializer(
        many=True,
        help_text=f"What it rests on, as far as this key may see it; the first {MAX_QUOTED}.",
    )
    message_count = serializers.IntegerField(help_text="How many messages it rests on in all.")


class HistorySerializer(page_schema("HistorySteps", StepSerializer)):  # type: ignore[misc]
    """What happened to a memory in all its versions, the latest first, a page at a time."""

    versions = VersionSerializer(many=True, help_text="The latest first.")


class HistoryQuerySerializer(QuerySerializer):
    """Which page."""

    limit = serializers.IntegerField(required=False, min_value=1, max_value=500, default=50)
    cursor = serializers.CharField(required=False)


class LogQuerySerializer(HistoryQuerySerializer):
    """What the log is narrowed to; all that are given must hold."""

    memory = serializers.UUIDField(required=False)
    event = serializers.ListField(
        child=OneOfField(choices=EVENTS), required=False, help_text="Any of these."
    )
    actor = TextField(
        required=False, max_length=200, help_text="The whole name, as the log has it."
    )
    conversation = serializers.UUIDField(required=False)
    user = NameField(required=False, max_length=200)
    to = ZonedDateTimeField(required=False, help_text="Before this time.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # `from` is a word of Python, so it cannot stand above.
        begin = ZonedDateTimeField(required=False, help_text="At this time or later.")
        return {**super().get_fields(), "from": begin}
