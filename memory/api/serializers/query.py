"""`memory.query`: its question with filters, and its answers."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory.api.fields import (
    NameField,
    OneOfField,
    QuestionField,
    StrictFloatField,
    StrictIntegerField,
)
from memory.api.serializers.base import MAX_TOKEN_BUDGET, ApiSerializer, StrictSerializer
from memory.api.serializers.found import SignalsSerializer
from memory.api.serializers.memories import MemorySerializer
from memory.domain.filter_parsing import FilterError, parse_filters
from memory.domain.filters import All, Expression
from memory.domain.packing import MINIMUM_BUDGET
from memory.services.read.querying import DEFAULT_TOP_K, MAX_TOP_K

MAX_CATEGORIES = 100
BULLETS, FULL = "bullets", "full"
_PATH = "filters"


@extend_schema_field(
    {
        "type": "object",
        "nullable": True,
        "additionalProperties": True,
        "description": (
            "All entries must hold: a field with a value, a list (one of them) or operators (`eq`,"
            " `ne`, `gt`, `gte`, `lt`, `lte`, `in`, `contains`), or `and`, `or` (lists of filters),"
            " `not` (a filter). Fields: `user`, `agent`, `project`, `conversation`, `category`,"
            " `memory_type`, `subject`, `tags`, `pinned`, `importance`, `confidence`, `created`,"
            " `updated`, `actor`, `role`; short forms: `importance_min`, `importance_max`,"
            " `updated_after`, `updated_before`, `created_after`, `created_before`."
        ),
        "example": {
            "user": "sarah",
            "importance": {"gte": 5},
            "or": [{"tags": ["release"]}, {"pinned": True}],
        },
    }
)
class FilterField(serializers.Field[Any, Any, Any, Any]):
    """A filter in JSON, read into its tree; a problem is named by its place in it."""

    def to_internal_value(self, data: Any) -> Expression:  # Any: whatever the body holds
        try:
            return parse_filters(data, path=_PATH)
        except FilterError as error:
            place = error.path.removeprefix(_PATH).removeprefix(".")
            raise serializers.ValidationError(
                {place: [error.message]} if place else error.message
            ) from None


class MemoryQuerySerializer(StrictSerializer):
    """A question, and which memories may answer it."""

    agent = NameField(help_text="Who asks; only what this agent may read is found.")
    query = QuestionField()
    user = NameField(
        required=False,
        allow_null=True,
        max_length=200,
        help_text="Narrows to memories about this person or about nobody, as in /v1/retrieve.",
    )
    project = NameField(required=False, allow_null=True)
    categories = serializers.ListField(
        child=NameField(),
        required=False,
        allow_null=True,
        max_length=MAX_CATEGORIES,
        help_text="Only these; all that the agent may read if omitted.",
    )
    filters = FilterField(required=False, allow_null=True)
    top_k = StrictIntegerField(
        required=False, default=DEFAULT_TOP_K, min_value=1, max_value=MAX_TOP_K
    )
    threshold = StrictFloatField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=1,
        help_text="Results with a lower score are dropped.",
    )
    budget_tokens = StrictIntegerField(
        required=False,
        allow_null=True,
        min_value=MINIMUM_BUDGET,
        max_value=MAX_TOKEN_BUDGET,
        help_text="Tokens of all bullets; the agent's own budget (2000) if omitted.",
    )

    return_ = OneOfField(choices=[BULLETS, FULL], required=False, default=BULLETS)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A missing or null filter holds for everything."""
        return {**attrs, "filters": attrs.get("filters") or All()}


class BulletSerializer(ApiSerializer):
    """A memory as one line, `[category] text`."""

    id = serializers.UUIDField(source="memory.pk")
    category = serializers.CharField(source="memory.category")
    text = serializers.CharField()
    tokens = serializers.IntegerField()
    score = serializers.FloatField(
        allow_null=True,
        help_text="0-1; null for memories that were included with their whole category.",
    )


class FullResultSerializer(MemorySerializer):
    """A memory with its bullet, and the signals behind its score."""

    text = serializers.CharField()
    tokens = serializers.IntegerField()
    score = serializers.FloatField(
        allow_null=True,
        help_text="0-1; null for memories that were included with their whole category.",
    )
    signals = SignalsSerializer(allow_null=True)


class _AnswerSerializer(ApiSerializer):
    tokens_used = serializers.IntegerField()
    token_budget = serializers.IntegerField()
    left_out = serializers.IntegerField(help_text="How many memories did not fit the budget.")
    warnings = serializers.ListField(child=serializers.CharField())


class BulletAnswerSerializer(_AnswerSerializer):
    """The answer for `return: bullets`."""

    return_ = serializers.ChoiceField(choices=[BULLETS])
    results = BulletSerializer(many=True)


class FullAnswerSerializer(_AnswerSerializer):
    """The answer for `return: full`."""

    return_ = serializers.ChoiceField(choices=[FULL])
    results = FullResultSerializer(many=True)
