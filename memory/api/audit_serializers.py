"""What the reads of the past take in and answer with."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory.api.base import page_schema
from memory.api.fields import ZonedDateTimeField
from memory.api.output import MemorySerializer
from memory.api.parameters import MemoryFilterSerializer
from memory.selectors.looking_back.states import Change, Kind

KINDS = [(kind.value, kind.value) for kind in Kind]


class StateQuerySerializer(MemoryFilterSerializer):
    """Which instant, or which two, and which memories of it; all filters must hold."""

    at = ZonedDateTimeField(help_text="The instant, with its zone; not a time to come.")
    diff_to = ZonedDateTimeField(
        required=False, help_text="A later instant: what changed from `at` to this one."
    )


class PastMemorySerializer(MemorySerializer):
    """A memory as it stood; usage is counted and not logged, so it has none."""

    usage = None  # type: ignore[assignment]  # DRF's way to leave a field out


class StatePageSerializer(page_schema("StateMemories", PastMemorySerializer)):  # type: ignore[misc]
    """A page of the memories of an instant."""

    at = serializers.DateTimeField()
    position = serializers.IntegerField(help_text="How many commits of the team were done then.")
    changed_at = serializers.DateTimeField(allow_null=True, help_text="When the last of these was.")


class DifferenceSerializer(serializers.Serializer[Any]):
    """A field before and after."""

    to = serializers.JSONField(allow_null=True)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # `from` is a word of Python, so it cannot stand above.
        return {"from": serializers.JSONField(allow_null=True), **super().get_fields()}


class ChangeSerializer(serializers.Serializer[Any]):
    """A memory that is not the same at the two instants."""

    id = serializers.UUIDField(source="memory_id")
    change = serializers.ChoiceField(
        source="kind",
        choices=KINDS,
        help_text=(
            "created: it began in between; changed: it matched the filters at both instants;"
            " appeared: it was there and did not match them before; gone: it does not match them"
            " any more."
        ),
    )
    fields = serializers.SerializerMethodField(  # type: ignore[assignment]
        method_name="differences", help_text="What differs, where it was there at both instants."
    )
    memory = serializers.SerializerMethodField(
        help_text="As it stood at the later instant; at the earlier one where it is gone for good."
    )

    @extend_schema_field(serializers.DictField(child=DifferenceSerializer()))
    def differences(self, change: Change) -> dict[str, Any]:
        """The fields by their names."""
        return {name: {"from": old, "to": new} for name, (old, new) in change.fields.items()}

    @extend_schema_field(PastMemorySerializer)
    def get_memory(self, change: Change) -> dict[str, Any]:
        """The memory, seen from the later instant."""
        return dict(PastMemorySerializer(change.after or change.before).data)


class ChangePageSerializer(serializers.Serializer[Any]):
    """A page of what changed, the memories stored last first."""

    at = serializers.DateTimeField()
    diff_to = serializers.DateTimeField()
    next = serializers.URLField(allow_null=True)
    results = ChangeSerializer(many=True)
