"""Threads: what is asked about them and what is answered."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from memory.api.fields import NameField
from memory.api.input import StrictSerializer
from memory.api.parameters import QuerySerializer

MAX_VERSION = 2**31 - 1


class ObjectField(serializers.JSONField):
    """A JSON object, of any content."""

    default_error_messages = {"no_object": "Must be a JSON object."}

    def to_internal_value(self, data: Any) -> dict[str, object]:  # Any: whatever the body holds
        if not isinstance(data, dict):
            self.fail("no_object")
        return data


class CheckpointSerializer(StrictSerializer):
    """The state of a thread, to be saved."""

    user = NameField(max_length=200)
    agent = NameField(
        required=False,
        allow_null=True,
        help_text="Whose state it is; a key of one agent saves that agent's. Without one it is the"
        " team's own, apart from those of agents.",
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # `data` is a property of every serializer, so it cannot stand above.
        said = "Anything; it comes back as it was sent."
        return {**super().get_fields(), "data": ObjectField(help_text=said)}


class CheckpointQuerySerializer(QuerySerializer):
    """Whose state is asked for, and which version of it."""

    user = NameField(max_length=200)
    agent = NameField(required=False)
    version = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_VERSION,
        help_text="The one that stands if left out.",
    )


class SavedCheckpointSerializer(serializers.Serializer[Any]):
    """A version of a thread's state, without the state itself."""

    thread_id = serializers.CharField()
    user = serializers.CharField()
    agent = serializers.CharField(allow_null=True)
    version = serializers.IntegerField(help_text="1 for the first; also the ETag, in quotes.")
    bytes = serializers.IntegerField(help_text="Of the data as compact JSON.")
    saved_at = serializers.DateTimeField()
    saved_by = serializers.CharField()
    versions = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="Those that can still be read, the latest first.",
    )


class LoadedCheckpointSerializer(SavedCheckpointSerializer):
    """A version of a thread's state."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # `data` is a property of every serializer, so it cannot stand above.
        return {**super().get_fields(), "data": ObjectField()}


class ChangesQuerySerializer(QuerySerializer):
    """Which thread, and from where on."""

    since = serializers.IntegerField(
        required=False,
        default=0,
        min_value=0,
        max_value=2**63 - 1,
        help_text="A revision of the thread; what came after it is answered.",
    )
    user = NameField(
        required=False,
        max_length=200,
        help_text="Whose thread; not needed with the"
        " id of a conversation, or where no other thread is called so.",
    )
    agent = NameField(required=False)
    limit = serializers.IntegerField(required=False, default=100, min_value=1, max_value=500)


class ThreadChangeSerializer(serializers.Serializer[Any]):
    """One change of one memory of the thread."""

    revision = serializers.IntegerField()
    event = serializers.CharField(help_text="As the log calls it.")
    memory = serializers.UUIDField(source="memory_id")
    content = serializers.CharField()
    memory_type = serializers.CharField()
    category = serializers.CharField()
    importance = serializers.IntegerField(help_text="As it is now, as are the fields above.")
    status = serializers.CharField(help_text="After the change.")
    superseded_by = serializers.UUIDField(allow_null=True, help_text="After the change.")
    actor = serializers.CharField()
    reason = serializers.CharField()
    at = serializers.DateTimeField()


class ThreadChangesSerializer(serializers.Serializer[Any]):
    """What changed in a thread's memories after a revision, the oldest first."""

    conversation = serializers.UUIDField()
    thread_id = serializers.CharField()
    since = serializers.IntegerField()
    revision = serializers.IntegerField(help_text="The thread's.")
    next_since = serializers.IntegerField(help_text="Ask with it for what comes next.")
    has_more = serializers.BooleanField()
    header = serializers.CharField(
        help_text="What a prompt would say of it, in at most three bullets; empty for no news."
    )
    changes = ThreadChangeSerializer(many=True)
