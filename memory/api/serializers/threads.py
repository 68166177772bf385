"""Threads: what is asked about them and what is answered."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from memory.api.fields import NameField
from memory.api.serializers.base import ApiSerializer, QuerySerializer, StrictSerializer

MAX_VERSION = 2**31 - 1


class ObjectField(serializers.JSONField):
    """A JSON object, of any content."""

    default_error_messages = {"no_object": "Must be a JSON object."}

    def to_internal_value(self, data: Any) -> dict[str, object]:  # Any: whatever the body holds
        if not isinstance(data, dict):
            self.fail("no_object")
        return data


class CheckpointSerializer(StrictSerializer):
    """The state of a thread to save."""

    user = NameField(max_length=200)
    agent = NameField(
        required=False,
        allow_null=True,
        help_text="Whose state it is; a key of one agent saves that agent's. Without an agent it is"
        " the team's own state, separate from those of agents.",
    )

    data_ = ObjectField(help_text="Any JSON object; it is returned exactly as it was sent.")


class CheckpointQuerySerializer(QuerySerializer):
    """Whose state to load, and which version."""

    user = NameField(max_length=200)
    agent = NameField(required=False)
    version = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_VERSION,
        help_text="The current version if omitted.",
    )


class SavedCheckpointSerializer(ApiSerializer):
    """A version of a thread's state, without the state itself."""

    thread_id = serializers.CharField()
    user = serializers.CharField()
    agent = serializers.CharField(allow_null=True)
    version = serializers.IntegerField(help_text="1 for the first; also the ETag, in quotes.")
    bytes = serializers.IntegerField(help_text="Size of the data as compact JSON.")
    saved_at = serializers.DateTimeField()
    saved_by = serializers.CharField()
    versions = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="The versions that can still be loaded, the latest first.",
    )


class LoadedCheckpointSerializer(SavedCheckpointSerializer):
    """A version of a thread's state."""

    data_ = ObjectField()


class ChangesQuerySerializer(QuerySerializer):
    """Which thread, and from which revision on."""

    since = serializers.IntegerField(
        required=False,
        default=0,
        min_value=0,
        max_value=2**63 - 1,
        help_text="A revision of the thread; later changes are returned.",
    )
    user = NameField(
        required=False,
        max_length=200,
        help_text="Whose thread; not needed with the"
        " id of a conversation, or where no other thread is called so.",
    )
    agent = NameField(required=False)
    limit = serializers.IntegerField(required=False, default=100, min_value=1, max_value=500)


class ThreadChangeSerializer(ApiSerializer):
    """One change of one memory of the thread."""

    revision = serializers.IntegerField(source="row.revision")
    event = serializers.CharField(source="row.event", help_text="The event's name in the log.")
    memory = serializers.UUIDField(source="memory.pk")
    content = serializers.CharField(source="memory.content")
    memory_type = serializers.CharField(source="memory.memory_type")
    category = serializers.CharField(source="memory.category")
    importance = serializers.IntegerField(
        source="memory.importance", help_text="The current value, like the fields above."
    )
    status = serializers.CharField(help_text="The value after the change.")
    superseded_by = serializers.UUIDField(allow_null=True, help_text="The value after the change.")
    actor = serializers.CharField(source="row.actor")
    reason = serializers.CharField(source="row.reason")
    at = serializers.DateTimeField(source="row.at")


class ThreadChangesSerializer(ApiSerializer):
    """What changed in a thread's memories after a revision, the oldest first."""

    conversation = serializers.UUIDField()
    thread_id = serializers.CharField()
    since = serializers.IntegerField()
    revision = serializers.IntegerField(help_text="The thread's current revision.")
    next_since = serializers.IntegerField(help_text="Pass it as `since` to get the next changes.")
    has_more = serializers.BooleanField()
    header = serializers.CharField(
        help_text="What a prompt would say about it, in at most three bullets; empty if nothing."
    )
    changes = ThreadChangeSerializer(many=True)
