"""What the API takes in: every field explicit, everything else refused."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import serializers

from memory.api.fields import (
    ContentField,
    NameField,
    OneOfField,
    QuestionField,
    StrictBooleanField,
    StrictFloatField,
    StrictIntegerField,
    TextField,
    ZonedDateTimeField,
)
from memory.domain.feedback import Feedback
from memory.domain.packing import MINIMUM_BUDGET
from memory.models.contradiction import RESOLUTIONS, VERDICTS
from memory.models.memory import MEMORY_TYPES, TIERS
from teams.models.conversations import ROLES

MAX_SUBJECT_CHARS = 200
MAX_TAGS = 50
MAX_TOKEN_BUDGET = 1_000_000
PER_REQUEST = settings.MAX_ITEMS_PER_REQUEST


INCLUDE_COLD = (
    "true: cold memories and past ones too; false: never. When left out, cold ones are looked at"
    " when the others say little about the question."
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
                known = ", ".join(self.fields)
                raise serializers.ValidationError(
                    {name: [f"There is no such field; known are: {known}."] for name in unknown}
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
    created_at = ZonedDateTimeField(required=False, allow_null=True)
    external_id = NameField(required=False, allow_null=True, max_length=200)


class NewMessagesSerializer(StrictSerializer):
    """1 to 500 messages, in the order they were said."""

    messages = serializers.ListField(
        child=NewMessageSerializer(), min_length=1, max_length=PER_REQUEST
    )


class ExtractSerializer(StrictSerializer):
    """Whether to wait for the result."""

    wait = StrictBooleanField(required=False, default=False)


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

    content = ContentField()
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
    created_at = ZonedDateTimeField(required=False, allow_null=True)
    valid_from = ZonedDateTimeField(required=False, allow_null=True)
    valid_to = ZonedDateTimeField(required=False, allow_null=True)
    message_ids = serializers.ListField(
        child=serializers.UUIDField(), required=False, max_length=PER_REQUEST
    )
    external_id = NameField(required=False, allow_null=True, max_length=200)
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

    corrected_content = ContentField()
    reason = TextField(required=False, allow_blank=True, allow_null=True, max_length=2000)


class FeedbackSerializer(StrictSerializer):
    """What became of a memory that a prompt held."""

    signal = OneOfField(choices=[(item.value, item.value) for item in Feedback])
    note = TextField(required=False, allow_blank=True, allow_null=True, max_length=2000)


class ResolutionSerializer(StrictSerializer):
    """How a contradiction is settled; a merge says what the merged memory says."""

    resolution = OneOfField(choices=RESOLUTIONS)
    note = TextField(required=False, allow_blank=True, allow_null=True, max_length=2000)
    merged_content = ContentField(required=False, allow_null=True)


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
    limit = StrictIntegerField(required=False, allow_null=True, min_value=1, max_value=PER_REQUEST)
    include_cold = StrictBooleanField(required=False, help_text=INCLUDE_COLD)
    include_raw = StrictBooleanField(required=False, help_text=INCLUDE_RAW)


class QuerySerializer(StrictSerializer):
    """The query parameters of a read; a list may be repeated or separated by commas."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: DRF's own options
        data = kwargs.get("data")
        if data is not None and hasattr(data, "lists"):
            kwargs["data"] = {name: self._values(name, values) for name, values in data.lists()}
        super().__init__(*args, **kwargs)

    def _values(self, name: str, values: list[str]) -> list[str] | str:
        declared = self._declared_fields.get(name)
        if isinstance(declared, serializers.ListField):
            return [part for value in values for part in value.split(",") if part]
        return values[-1]


class ReasonQuerySerializer(QuerySerializer):
    """Why, for the log, of a request that has no body."""

    reason = TextField(required=False, allow_blank=True, max_length=2000)


class MemoryFilterSerializer(QuerySerializer):
    """Which memories to list; all filters must hold."""

    memory_type = serializers.ListField(child=OneOfField(choices=MEMORY_TYPES), required=False)
    status = serializers.ListField(
        child=OneOfField(
            choices=["active", "disputed", "superseded", "soft_deleted", "archived", "all"]
        ),
        required=False,
        help_text="active and disputed when left out; all for every one.",
    )
    tier = serializers.ListField(child=OneOfField(choices=TIERS), required=False)
    agent = NameField(required=False)
    user = NameField(required=False, max_length=200)
    project = NameField(required=False)
    conversation = serializers.UUIDField(required=False)
    subject = NameField(required=False, max_length=MAX_SUBJECT_CHARS, help_text="Its beginning.")
    category = NameField(required=False)
    tag = serializers.ListField(child=NameField(), required=False, help_text="All must be there.")
    is_pinned = serializers.BooleanField(required=False, allow_null=True, default=None)
    min_importance = serializers.IntegerField(required=False, min_value=1, max_value=10)
    max_importance = serializers.IntegerField(required=False, min_value=1, max_value=10)
    created_after = ZonedDateTimeField(required=False)
    created_before = ZonedDateTimeField(required=False)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=PER_REQUEST)
    cursor = serializers.CharField(required=False)


class SearchQuerySerializer(QuerySerializer):
    """What to look for, and among which memories."""

    query = QuestionField()
    memory_types = serializers.ListField(child=OneOfField(choices=MEMORY_TYPES), required=False)
    agent = NameField(required=False)
    user = NameField(required=False, max_length=200)
    project = NameField(required=False)
    min_importance = serializers.IntegerField(required=False, default=1, min_value=1, max_value=10)
    include_cold = serializers.BooleanField(required=False, help_text=INCLUDE_COLD)
    include_raw = serializers.BooleanField(required=False, help_text=INCLUDE_RAW)
    limit = serializers.IntegerField(required=False, default=20, min_value=1, max_value=PER_REQUEST)


class MessagePageSerializer(QuerySerializer):
    """Which page of a conversation's messages."""

    limit = serializers.IntegerField(required=False, min_value=1, max_value=PER_REQUEST)
    cursor = serializers.CharField(required=False)


class ContradictionFilterSerializer(QuerySerializer):
    """Which contradictions to list."""

    state = OneOfField(choices=["open", "resolved", "all"], required=False, default="open")
    verdict = OneOfField(choices=VERDICTS, required=False)
    memory = serializers.UUIDField(required=False, help_text="Those that touch this memory.")
    limit = serializers.IntegerField(required=False, min_value=1, max_value=PER_REQUEST)
    cursor = serializers.CharField(required=False)
