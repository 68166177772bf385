"""What the API answers with of conversations: messages, extractions, compactions, jobs."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory.models import Job
from teams.models.conversations import ROLES


class ConversationSerializer(serializers.Serializer[Any]):
    """One thread between an agent and an end user."""

    id = serializers.UUIDField()
    agent = serializers.CharField(source="agent.slug")
    user = serializers.CharField(source="end_user.external_id")
    project = serializers.CharField(source="project.slug", default=None, allow_null=True)
    thread_id = serializers.CharField()
    revision = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class MessageSerializer(serializers.Serializer[Any]):
    """One message as it was said."""

    id = serializers.UUIDField()
    position = serializers.IntegerField(help_text="1 for the first message of the conversation.")
    role = serializers.ChoiceField(choices=ROLES)
    content = serializers.CharField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()
    external_id = serializers.CharField(allow_null=True)


class MessageListSerializer(serializers.Serializer[Any]):
    """Stored messages, in the order they were sent."""

    messages = MessageSerializer(many=True)


class ExtractionSerializer(serializers.Serializer[Any]):
    """What an extraction did."""

    created = serializers.IntegerField()
    versioned = serializers.IntegerField()
    duplicates_skipped = serializers.IntegerField()
    contradictions_found = serializers.IntegerField()
    pass1_count = serializers.IntegerField()
    pass2_additions = serializers.IntegerField()
    extractor = serializers.CharField(
        help_text="Who did the work, joined by +; who would have, where there was none."
    )
    pass1_extractor = serializers.CharField(
        default="", help_text="Who did pass 1, found something or not; empty without messages."
    )
    pass2_extractor = serializers.CharField(default="", help_text="Who did pass 2.")
    memories = serializers.ListField(child=serializers.UUIDField())
    secrets_masked = serializers.IntegerField(
        default=0, help_text="Candidates in which a key, password or card number was masked."
    )
    left_out = serializers.IntegerField(
        default=0,
        help_text="What only the caps of a turn and a day kept out; a compaction stores it.",
    )
    warnings = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        help_text="Where the rules stood in for a model, and why.",
    )


class RangeSerializer(serializers.Serializer[Any]):
    """Positions of messages, both ends included; zeros when there are none."""

    to = serializers.IntegerField(source="last")
    count = serializers.IntegerField()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # `from` is a word of Python, so it cannot stand above.
        return {"from": serializers.IntegerField(source="first"), **super().get_fields()}


class CompactedSerializer(serializers.Serializer[Any]):
    """What a compaction did: the context may now hold the summary and the kept messages."""

    summary = serializers.CharField()
    kept = MessageSerializer(many=True)
    compacted = RangeSerializer(source="*")
    extraction = ExtractionSerializer()


class JobSerializer(serializers.Serializer[Any]):
    """Background work and, once done, its result."""

    id = serializers.UUIDField()
    conversation = serializers.UUIDField(source="conversation_id")
    state = serializers.ChoiceField(choices=Job.State.choices)
    messages = serializers.IntegerField(help_text="How many messages it reads.")
    messages_done = serializers.IntegerField(help_text="How many of them are extracted.")
    attempts = serializers.IntegerField()
    error = serializers.CharField()
    result = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(ExtractionSerializer(allow_null=True))
    def get_result(self, job: Job) -> dict[str, Any] | None:
        """What the extraction did, once it is done."""
        return job.result if job.state == Job.State.DONE else None


class QueuedJobSerializer(serializers.Serializer[Any]):
    """Where to ask for the result."""

    job = serializers.UUIDField()
