"""Conversations: their messages, extractions, compactions and jobs."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory.api.fields import (
    ContentField,
    NameField,
    OneOfField,
    PastDateTimeField,
    StrictBooleanField,
    StrictIntegerField,
)
from memory.api.serializers.base import (
    MAX_TOKEN_BUDGET,
    PER_REQUEST,
    ApiSerializer,
    DatedPageQuerySerializer,
    StrictSerializer,
)
from memory.models import Job
from memory.services.extraction.waiting import skipped_warnings
from teams.models.conversations import MAX_THREAD_CHARS, ROLES


class NewConversationSerializer(StrictSerializer):
    """Who talks with whom; agent, user and project are created when new."""

    agent = NameField()
    user = NameField(max_length=200)
    user_name = NameField(
        required=False,
        allow_null=True,
        max_length=200,
        help_text="What the user is called. It is kept, takes the place of a name given before, and"
        ' is told where a memory says "User".',
    )
    project = NameField(required=False, allow_null=True)
    thread_id = NameField(required=False, allow_null=True, max_length=MAX_THREAD_CHARS)


class ConversationFilterSerializer(DatedPageQuerySerializer):
    """Which conversations to list; all filters must match."""

    agent = NameField(required=False)
    user = NameField(required=False, max_length=200)
    project = NameField(required=False)
    thread_id = NameField(required=False, max_length=MAX_THREAD_CHARS)


class NewMessageSerializer(StrictSerializer):
    """One message; its content is kept verbatim."""

    role = OneOfField(choices=ROLES)
    content = ContentField()
    name = NameField(required=False, allow_blank=True, allow_null=True, max_length=200)
    created_at = PastDateTimeField(required=False, allow_null=True)
    external_id = NameField(
        required=False,
        allow_null=True,
        max_length=200,
        help_text="The caller's own id for it. Sent again with the same text it is not stored"
        " again, with another text it is refused (409).",
    )


class NewMessagesSerializer(StrictSerializer):
    """1 to 500 messages, in the order they were said."""

    messages = serializers.ListField(
        child=NewMessageSerializer(), min_length=1, max_length=PER_REQUEST
    )


class ExtractSerializer(StrictSerializer):
    """Whether to wait for the result."""

    wait = StrictBooleanField(required=False, default=False)


class NothingSerializer(StrictSerializer):
    """A body that holds nothing."""


class CompactSerializer(StrictSerializer):
    """How much of the end of the conversation stays: a number of messages, or as many as fit."""

    keep_last = StrictIntegerField(required=False, min_value=0, max_value=1_000_000)
    max_tokens = StrictIntegerField(required=False, min_value=0, max_value=MAX_TOKEN_BUDGET)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Exactly one of the two must be given."""
        if len(attrs) != 1:
            raise serializers.ValidationError(
                {"keep_last": ["Give either keep_last or max_tokens."]}
            )
        return attrs


class ConversationSerializer(ApiSerializer):
    """One thread between an agent and an end user."""

    id = serializers.UUIDField()
    agent = serializers.CharField(source="agent.slug")
    user = serializers.CharField(source="end_user.external_id")
    project = serializers.CharField(source="project.slug", default=None, allow_null=True)
    thread_id = serializers.CharField()
    revision = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class MessageSerializer(ApiSerializer):
    """One message as it was said."""

    id = serializers.UUIDField()
    position = serializers.IntegerField(help_text="1 for the first message of the conversation.")
    role = serializers.ChoiceField(choices=ROLES)
    content = serializers.CharField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()
    external_id = serializers.CharField(allow_null=True)


class MessageListSerializer(ApiSerializer):
    """Stored messages, in the order they were sent."""

    messages = MessageSerializer(many=True)


class ExtractionSerializer(ApiSerializer):
    """What an extraction did."""

    created = serializers.IntegerField()
    versioned = serializers.IntegerField()
    duplicates_skipped = serializers.IntegerField()
    contradictions_found = serializers.IntegerField()
    pass1_count = serializers.IntegerField()
    pass2_additions = serializers.IntegerField()
    extractor = serializers.CharField(
        help_text="The extractors that were used, joined by +, or that would have been."
    )
    pass1_extractor = serializers.CharField(
        default="", help_text="The extractor of pass 1; empty if there were no messages."
    )
    pass2_extractor = serializers.CharField(default="", help_text="The extractor of pass 2.")
    memories = serializers.ListField(child=serializers.UUIDField())
    secrets_masked = serializers.IntegerField(
        default=0, help_text="How many candidates had a key, password or card number masked."
    )
    held_for_consent = serializers.IntegerField(
        help_text="Changes of a person's profile that wait for a yes as consent requests."
    )
    left_out = serializers.IntegerField(
        default=0,
        help_text="How many candidates the caps kept out; the next background run writes them.",
    )
    refused = serializers.DictField(
        child=serializers.IntegerField(),
        default=dict,
        help_text="How many candidates may not be stored, by reason: badly worded, of unknown"
        " messages, or with a number, name or words that no message says.",
    )
    repaired = serializers.DictField(
        child=serializers.IntegerField(),
        default=dict,
        help_text="Fields of candidates that were put right before they were stored, by reason.",
    )
    messages_read = serializers.IntegerField(
        default=0, help_text="How many messages both passes read."
    )
    extraction_seconds = serializers.FloatField(default=0.0, help_text="How long both passes took.")
    extraction_cost_usd = serializers.FloatField(
        default=0.0, help_text="What the models of both passes cost."
    )
    seconds_per_message = serializers.FloatField(default=0.0)
    cost_usd_per_message = serializers.FloatField(default=0.0)
    warnings = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        help_text="Where a small model replaced the language model, and why.",
    )


class RangeSerializer(ApiSerializer):
    """Positions of messages, both ends included; zeros when there are none."""

    from_ = serializers.IntegerField(source="first")
    to = serializers.IntegerField(source="last")
    count = serializers.IntegerField()


class CompactedSerializer(ApiSerializer):
    """A compaction: the context may now hold just the summary and the kept messages."""

    summary = serializers.CharField()
    kept = MessageSerializer(many=True)
    compacted = RangeSerializer(source="*")
    extraction = ExtractionSerializer()


class JobSerializer(ApiSerializer):
    """Background work and, once done, its result."""

    id = serializers.UUIDField()
    conversation = serializers.UUIDField(source="conversation_id")
    state = serializers.ChoiceField(
        choices=Job.State.choices,
        help_text="`queued`, `running`, `done`; `failed` where a service stayed away, until the"
        " next extraction; `set_aside` where its messages fail, until an admin retries. Such"
        " messages are cut out of a job: what is behind them is extracted by jobs of their own.",
    )
    messages = serializers.IntegerField(help_text="How many messages it covers, by now.")
    messages_done = serializers.IntegerField(help_text="How many of them are extracted so far.")
    attempts = serializers.IntegerField()
    error = serializers.CharField()
    result = serializers.SerializerMethodField()
    warnings = serializers.SerializerMethodField(
        help_text="Which messages of its conversation are skipped."
    )
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(ExtractionSerializer(allow_null=True))
    def get_result(self, job: Job) -> dict[str, Any] | None:
        """What the extraction did, once it is done."""
        return job.result if job.state == Job.State.DONE else None

    def get_warnings(self, job: Job) -> list[str]:
        """Return which messages of its conversation are skipped."""
        jobs = Job.objects.extractions().filter(
            team_id=job.team_id, conversation_id=job.conversation_id
        )
        return list(skipped_warnings(jobs=jobs))


class QueuedJobSerializer(ApiSerializer):
    """The job to poll for the result."""

    job = serializers.UUIDField()
