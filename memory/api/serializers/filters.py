"""Filters of memories, as requests write them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory.domain.filter_parsing import FilterError, parse_filters
from memory.domain.filters import BOUNDS, SYNONYMS, Expression, Field

_PATH = "filters"
_MANY = ("and", "or", "AND", "OR")


@extend_schema_field(
    {
        "type": "object",
        "nullable": True,
        "properties": {str(name): {} for name in (*Field, *SYNONYMS, *BOUNDS)}
        | {name: {"type": "array", "items": {"type": "object"}, "minItems": 1} for name in _MANY}
        | {name: {"type": "object"} for name in ("not", "NOT")},
        "additionalProperties": False,
        "description": (
            "All entries must hold: a field with a value, a list (one of them) or operators (`eq`,"
            " `ne`, `gt`, `gte`, `lt`, `lte`, `in`, `contains`, `icontains`; `$eq` is `eq`), or"
            " `and`, `or` (lists of filters), `not` (a filter). Fields: `user`, `agent`, `project`,"
            " `conversation`, `thread`, `id`, `text`, `category`,"
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
