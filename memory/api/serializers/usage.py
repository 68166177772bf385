"""Reports of which memories were of use."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from memory.api.serializers.base import ApiSerializer, StrictSerializer
from memory.api.serializers.work import WorkSerializer

MOST_REPORTED = 100


class UsageReportSerializer(StrictSerializer):
    """The memories that an agent used, and those that it was given and did not."""

    cited = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        max_length=MOST_REPORTED,
        help_text="Ids of memories that were used in an answer or an action.",
    )
    ignored = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        max_length=MOST_REPORTED,
        help_text="Ids of memories that were told and of no use.",
    )
    work = WorkSerializer(
        required=False,
        allow_null=True,
        help_text="What the agent had in front of it: what was cited is predicted by"
        " POST /v1/context/predict when such signals come again.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuses a report of nothing, and a memory that is both."""
        cited, ignored = attrs.get("cited") or [], attrs.get("ignored") or []
        if not cited and not ignored:
            raise serializers.ValidationError({"cited": ["Name a memory, here or in ignored."]})
        if both := [each for each in ignored if each in set(cited)]:
            raise serializers.ValidationError({"ignored": [f"{both[0]} is in cited as well."]})
        return attrs


class UsageReportedSerializer(ApiSerializer):
    """How many different memories were counted."""

    cited = serializers.IntegerField()
    ignored = serializers.IntegerField()
