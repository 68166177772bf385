"""What the API takes in with a body: every field explicit, everything else refused."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import serializers

from memory.api.fields import (
    ContentField,
    NameField,
    OneOfField,
    PastDateTimeField,
    QuestionField,
    StatementField,
    StrictBooleanField,
    StrictFloatField,
    StrictIntegerField,
    TextField,
    ZonedDateTimeField,
)
from memory.domain.feedback import Feedback
from memory.domain.packing import MINIMUM_BUDGET
from memory.models.contradiction import RESOLUTIONS
from memory.models.memory import MEMORY_TYPES
from memory.services.deciding.disputes import MERGED
from teams.models.conversations import ROLES

MAX_SUBJECT_CHARS = 200
MAX_TAGS = 50
MAX_TOKEN_BUDGET = 1_000_000
PER_REQUEST = settings.MAX_ITEMS_PER_REQUEST


INCLUDE_COLD = (
    "true: cold memories and past ones too; false: never. When left out, cold ones are looked at"
    " when the others say little about the question, and past ones when it asks for what was before"
    " (“previously”, “used to”)."
)
INCLUDE_RAW = (
    "true: the messages themselves too; false: never. When left out, they are looked at when"
    " memories say little about the question."
)


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses fields it does not know, so that a misspelt one is not silently ignored."""

    def to_internal_value(self, data: Any) -> Any:  # Any: whatever the body holds
        if isinstance(data, dict):
            unknown = sorted(set(map(str, data)) - set(self.fields))
            if unknown:
                known = f"known are: {', '.join(self.fields)}" if self.fields else "none is known"
                raise serializers.ValidationError(
                    {name: [f"There is no such field; {known}."] for name in unknown}
                )
        return super().to_internal_value(data)


class NewConversationSerializer(StrictSerializer):
    """Who talks with whom; agent, user and project are created when new."""

    agent = NameField()
    user = NameField(max_length=200)
    project = NameField(required=False, allow_null=True)
    thread_id = NameField(required=False, allow_null=True, max_length=200)


class NewMessageSerializer(StrictSerializer):
    """One message; its content is kept to the letter."""

    role = OneOfField(choices=ROLES)
    content = ContentField()
    name = NameField(required=False, allow_blank=True, allow_null=True, max_length=200)
    created_at = PastDateTimeField(required=False, allow_null=True)
    external_id = NameField(required=False, allow_null=True, max_length=200)


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
    """How much of the end of the conversation stays: so many messages, or as many as fit."""

    keep_last = StrictIntegerField(required=False, min_value=0, max_value=1_000_000)
    max_tokens = StrictIntegerField(required=False, min_value=0, max_value=MAX_TOKEN_BUDGET)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Exactly one of the two is given."""
        if len(attrs) != 1:
            raise serializers.ValidationError(
                {"keep_last": ["Give either keep_last or max_tokens."]}
            )
        return attrs


class NewMemorySerializer(StrictSerializer):
    """A memory to store."""

    content = StatementField()
    memory_type = OneOfField(choices=MEMORY_TYPES, required=False, default="semantic")
    importance = StrictIntegerField(required=False, default=8, min_value=1, max_value=10)
    is_pinned = StrictBooleanField(required=False, default=False)
    agent = NameField(required=False, allow_null=True)
    user = NameField(required=False, allow_null=True, max_length=200)
    project = NameField(required=False, allow_null=True)
    conversation = serializers.UUIDField(required=False, allow_null=True)
    subject = NameField(
        required=False, allow_null=True, allow_blank=True, max_length=MAX_SUBJECT_CHARS
    )
    category = NameField(required=False, allow_null=True, allow_blank=True)
    tags = serializers.ListField(child=NameField(), required=False, max_length=MAX_TAGS)
    confidence = StrictFloatField(required=False, default=1.0, min_value=0, max_value=1)
    created_at = PastDateTimeField(required=False, allow_null=True)
    valid_from = ZonedDateTimeField(required=False, allow_null=True)
    valid_to = ZonedDateTimeField(required=False, allow_null=True)
    message_ids = serializers.ListField(
        child=serializers.UUIDField(), required=False, max_length=PER_REQUEST
    )
    external_id = NameField(
        required=False,
        allow_null=True,
        max_length=200,
        help_text="The caller's own name of it. Sent again with the same text it is a duplicate,"
        " with another text it is refused (409): correct the memory instead.",
    )
    check = StrictBooleanField(required=False, default=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The time it holds from is not after the time it holds to."""
        start, end = attrs.get("valid_from"), attrs.get("valid_to")
        if start and end and end < start:
            raise serializers.ValidationError({"valid_to": ["Must not be before valid_from."]})
        return attrs


class PinSerializer(StrictSerializer):
    """Whether the memory is pinned from now on."""

    pinned = StrictBooleanField()
    reason = TextField(required=False, allow_blank=True, allow_null=True, max_length=2000)


class ReasonSerializer(StrictSerializer):
    """Why, for the log."""

    reason = TextField(required=False, allow_blank=True, allow_null=True, max_length=2000)


class CorrectionSerializer(StrictSerializer):
    """What the memory should say."""

    corrected_content = StatementField()
    reason = TextField(required=False, allow_blank=True, allow_null=True, max_length=2000)


class FeedbackSerializer(StrictSerializer):
    """What became of a memory that a prompt held."""

    signal = OneOfField(choices=[(item.value, item.value) for item in Feedback])
    note = TextField(required=False, allow_blank=True, allow_null=True, max_length=2000)


class ResolutionSerializer(StrictSerializer):
    """How a contradiction is settled; a merge says what the merged memory says."""

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


class RetrieveSerializer(StrictSerializer):
    """What an agent wants to know, and how much room there is."""

    query = QuestionField()
    agent = NameField()
    user = NameField(required=False, allow_null=True, max_length=200)
    project = NameField(required=False, allow_null=True)
    conversation = serializers.UUIDField(required=False, allow_null=True)
    token_budget = StrictIntegerField(
        required=False,
        allow_null=True,
        min_value=MINIMUM_BUDGET,
        max_value=MAX_TOKEN_BUDGET,
        help_text="Tokens of the prompt; the agent's own budget (2000) when left out.",
    )
    limit = StrictIntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=PER_REQUEST,
        help_text="The most memories and messages beside identity and pinned memories, which always"
        " come; bounded by the token budget alone when left out.",
    )
    include_cold = StrictBooleanField(required=False, help_text=INCLUDE_COLD)
    include_raw = StrictBooleanField(required=False, help_text=INCLUDE_RAW)
