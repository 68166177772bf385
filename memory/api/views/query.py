"""`memory.query`: one tool for an agent that wants to know something (seed 004, §§6 and 11)."""

from __future__ import annotations

from functools import partial
from typing import Any

import orjson
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from memory.api.base import ApiViewSet, refusals
from memory.api.fields import (
    NameField,
    OneOfField,
    StrictFloatField,
    StrictIntegerField,
)
from memory.api.memory_json import MEDIA_TYPE, Json, answer_form, memory_json
from memory.api.request_events import search_event
from memory.api.serializers.base import ApiSerializer
from memory.api.serializers.found import AskSerializer, SignalsSerializer, token_budget_field
from memory.api.serializers.memories import MemorySerializer
from memory.clients.tools import default_tools
from memory.domain.filter_parsing import FilterError, parse_filters
from memory.domain.filters import All, Expression
from memory.services.read.querying import (
    DEFAULT_TOP_K,
    MAX_TOP_K,
    MemoryQuery,
    QueryAnswer,
    QueryResult,
    query_memories,
)

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


class MemoryQuerySerializer(AskSerializer):
    """A question, and which memories may answer it."""

    agent = NameField(help_text="Who asks; only what this agent may read is found.")
    user = NameField(
        required=False,
        allow_null=True,
        max_length=200,
        help_text="Narrows to memories about this person or about nobody, as in /v1/retrieve.",
    )
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
    budget_tokens = token_budget_field("Tokens of all bullets")

    return_ = OneOfField(choices=[BULLETS, FULL], required=False, default=BULLETS)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A missing or null filter holds for everything."""
        return {**attrs, "filters": attrs.get("filters") or All()}


def _score() -> serializers.FloatField:
    return serializers.FloatField(
        allow_null=True,
        help_text="0-1; null for memories that were included with their whole category.",
    )


class BulletSerializer(ApiSerializer):
    """A memory as one line, `[category] text`."""

    id = serializers.UUIDField(source="memory.pk")
    category = serializers.CharField(source="memory.category")
    text = serializers.CharField()
    tokens = serializers.IntegerField()
    score = _score()


class FullResultSerializer(MemorySerializer):
    """A memory with its bullet, and the signals behind its score."""

    text = serializers.CharField()
    tokens = serializers.IntegerField()
    score = _score()
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


class MemoryQueryViewSet(ApiViewSet):
    """The one read tool of the supervisor and its agents."""

    serializer_class = BulletAnswerSerializer
    operations = {"query": ("hotpath", "search")}
    memory_actions = ("query",)

    @extend_schema(
        request=MemoryQuerySerializer,
        responses={
            200: PolymorphicProxySerializer(
                component_name="MemoryQueryAnswer",
                serializers=[BulletAnswerSerializer, FullAnswerSerializer],
                resource_type_field_name=None,
            ),
            **refusals(403, 404, 422),
        },
    )
    def query(self, request: Request) -> HttpResponse:
        """The memories that match categories and filters and say most about a question."""
        given = self.body(MemoryQuerySerializer)
        viewer, agent, _ = self.named_agent(given)
        shape = given["return"]
        sent = query_memories(
            viewer=viewer,
            query=MemoryQuery(
                text=given["query"],
                token_budget=given.get("budget_tokens") or agent.token_budget,
                categories=tuple(dict.fromkeys(given.get("categories") or ())),
                filters=given["filters"],
                top_k=given["top_k"],
                threshold=given.get("threshold") or 0.0,
            ),
            write=partial(_written, shape),
            form=answer_form(FullAnswerSerializer if shape == FULL else BulletAnswerSerializer),
            tools=default_tools(),
            now=timezone.now(),
        )
        self.noted([search_event(viewer, sent)])
        return HttpResponse(sent.body, content_type=MEDIA_TYPE)


def _written(shape: str, answer: QueryAnswer) -> bytes:
    """What `FullAnswerSerializer` or `BulletAnswerSerializer` describes."""
    shown = _whole if shape == FULL else _bullet
    return orjson.dumps(
        {
            "return": shape,
            "tokens_used": answer.tokens_used,
            "token_budget": answer.token_budget,
            "left_out": answer.left_out,
            "warnings": list(answer.warnings),
            "results": [shown(each) for each in answer.results],
        }
    )


def _bullet(result: QueryResult) -> Json:
    return {
        "id": str(result.memory.pk),
        "category": result.memory.category,
        "text": result.text,
        "tokens": result.tokens,
        "score": result.score,
    }


def _whole(result: QueryResult) -> Json:
    return {
        **memory_json(result.memory),
        "text": result.text,
        "tokens": result.tokens,
        "score": result.score,
        "signals": result.signals,
    }
