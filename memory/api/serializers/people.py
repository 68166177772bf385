"""A person with the approved profile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from rest_framework import serializers

from memory.api.serializers.base import ApiSerializer
from memory.domain.audience import Viewer
from memory.models.memory import STATUSES
from teams.models import EndUser


@dataclass(frozen=True, slots=True)
class PersonPart:
    """A field of a person that a satellite adds: how it is serialized, and how it is loaded.

    `load` is called in the team's scope.
    """

    shown: serializers.Field[Any, Any, Any, Any]  # Any: as DRF types its fields
    load: Callable[[Viewer, EndUser], Iterable[object]]


PERSON_PARTS: dict[str, PersonPart] = {}


class ProfileFieldSerializer(ApiSerializer):
    """What is known of one field of a person."""

    field = serializers.CharField(help_text="Such as `city`.")
    value = serializers.CharField(
        source="memory.content", help_text="The whole statement, as it is stored."
    )
    since = serializers.DateTimeField(source="memory.created_at", help_text="When it was said.")
    status = serializers.ChoiceField(source="memory.status", choices=STATUSES)
    memory = serializers.UUIDField(source="memory.pk")
    extractor = serializers.CharField(source="memory.extractor", help_text="What wrote it down.")
    conversation = serializers.UUIDField(source="memory.conversation_id", allow_null=True)
    source_message_ids = serializers.ListField(
        source="memory.source_message_ids", child=serializers.UUIDField()
    )


class PersonSerializer(ApiSerializer):
    """A person with the approved profile."""

    external_id = serializers.CharField(source="person.external_id")
    display_name = serializers.CharField(source="person.display_name")
    created_at = serializers.DateTimeField(source="person.created_at")
    role = serializers.CharField(
        source="person.role", help_text="member, guest, or empty: as the team says of all."
    )
    has_insights = serializers.BooleanField(
        source="person.has_insights", help_text="Whether insights about the person are made."
    )
    sensitive_fields = serializers.ListField(
        child=serializers.CharField(), help_text="Those that the team changes only with a yes."
    )
    profile = ProfileFieldSerializer(many=True)

    def get_fields(self) -> dict[str, Any]:  # Any: as DRF types its fields
        """Returns the fields with those of the satellites, which come last."""
        return {**super().get_fields(), **{k: deepcopy(v.shown) for k, v in PERSON_PARTS.items()}}


def parts_of(viewer: Viewer, person: EndUser) -> Mapping[str, Iterable[object]]:
    """Returns the satellites' fields of a person as the viewer may see them; in scope."""
    return {name: part.load(viewer, person) for name, part in PERSON_PARTS.items()}
