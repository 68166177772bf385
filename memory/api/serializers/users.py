"""The erasure of a person: what is asked and what is answered."""

from __future__ import annotations

from rest_framework import serializers

from memory.api.fields import NameField
from memory.api.serializers.base import ApiSerializer, QuerySerializer


class ErasedSerializer(ApiSerializer):
    """How many rows of each kind are, or would be, erased."""

    user = serializers.CharField(source="external_id")
    memories = serializers.IntegerField()
    log_entries = serializers.IntegerField()
    conversations = serializers.IntegerField()
    messages = serializers.IntegerField()
    compactions = serializers.IntegerField()
    checkpoints = serializers.IntegerField()
    kept = serializers.ListField(
        child=serializers.UUIDField(),
        help_text="Memories about others, or about nobody, that rest on the person's words in part"
        " and stay readable; up to 100, to be looked at.",
    )


class ErasureToConfirmSerializer(ApiSerializer):  # Any: made of a plan and a token
    """What would be erased, and the token that confirms it."""

    confirmation = serializers.CharField(
        help_text="Send it as `confirmation` to carry out the erasure."
    )
    expires_at = serializers.DateTimeField()
    would_erase = ErasedSerializer()


class ConfirmationSerializer(QuerySerializer):
    confirmation = NameField(required=False, max_length=1000, help_text="What the first call gave.")
    reason = NameField(
        required=False, max_length=500, help_text="For the record; name no person in it."
    )
