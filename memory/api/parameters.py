"""What the API takes from an address: the parameters of reads, everything else refused."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from memory.api.fields import (
    NameField,
    OneOfField,
    QuestionField,
    TextField,
    ZonedDateTimeField,
)
from memory.api.input import (
    INCLUDE_COLD,
    INCLUDE_RAW,
    MAX_SUBJECT_CHARS,
    PER_REQUEST,
    StrictSerializer,
)
from memory.models.contradiction import VERDICTS
from memory.models.memory import MEMORY_TYPES, TIERS

_BELONGS = "Only memories that belong to this {0}, none that belong to no {0}.{1}"
_SEEN = " All that an agent sees is listed with a key of that agent."


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


class NoQuerySerializer(QuerySerializer):
    """A read that takes no parameters."""


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
    agent = NameField(required=False, help_text=_BELONGS.format("agent", _SEEN))
    user = NameField(required=False, max_length=200, help_text=_BELONGS.format("person", ""))
    project = NameField(required=False, help_text=_BELONGS.format("project", ""))
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
