"""Consent requests: listed, decided, and shown beside a person's profile."""

from __future__ import annotations

from rest_framework import serializers

from memory.api.fields import NameField, OneOfField, TextField
from memory.api.serializers.base import ApiSerializer, PageQuerySerializer, StrictSerializer
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import signals_of
from memory.satellites.consent.signals import independent_signals

STATES = [*ConsentRequest.State.choices, ("all", "All")]


class ConsentFilterSerializer(PageQuerySerializer):
    """Which consent requests to list; all filters must match."""

    status = OneOfField(choices=STATES, required=False, default="waiting")
    user = NameField(required=False, max_length=200, help_text="Only those about this person.")


class ConsentDecisionSerializer(StrictSerializer):
    """Why a request is approved or rejected."""

    note = TextField(required=False, allow_blank=True, allow_null=True, max_length=2000)


class ConsentRequestSerializer(ApiSerializer):
    """A proposed change that waits, or waited, for a yes."""

    id = serializers.UUIDField()
    kind = serializers.ChoiceField(
        choices=ConsentRequest.Kind.choices,
        help_text="`profile_field` changes a field of the person; `team_preference` tells all of"
        " the team what the person said of it, or what a project prefers, or with `present_memory`"
        " changes what the team prefers; `workflow` are steps that"
        " an agent took several times; `team_fact` tells all of the team what several people"
        " stated.",
    )
    status = serializers.ChoiceField(choices=ConsentRequest.State.choices, source="state")
    user = serializers.CharField(
        source="end_user.external_id",
        default=None,
        allow_null=True,
        help_text="null for what a project prefers, a workflow of an agent and a team fact.",
    )
    field = serializers.CharField(
        help_text="Such as `city`; empty for a team preference, `workflow` for a workflow."
    )
    present = serializers.CharField(
        source="present.content",
        default=None,
        allow_null=True,
        help_text="What stands until a yes; null for a first value.",
    )
    present_memory = serializers.UUIDField(source="present_id", allow_null=True)
    proposed = serializers.CharField(source="content")
    memory = serializers.UUIDField(
        source="memory_id", allow_null=True, help_text="What an approved value was written as."
    )
    people = serializers.IntegerField(
        help_text="How many people state it; 1 for all but a team fact."
    )
    needs_person = serializers.BooleanField(
        help_text="False for what applies by itself once a second independent signal says it."
    )
    signals = serializers.SerializerMethodField(
        help_text="In how many conversations or on how many days it was said."
    )
    source_message_ids = serializers.ListField(child=serializers.UUIDField())
    proposed_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    decided_by = serializers.CharField()
    decided_at = serializers.DateTimeField(allow_null=True)
    note = serializers.CharField()

    def get_signals(self, row: ConsentRequest) -> int:
        """How many independent signals there are."""
        return independent_signals(signals_of(row))
