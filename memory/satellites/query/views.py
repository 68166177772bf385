"""`memory.query`: one tool for an agent that wants to know something (seed 004, §§6 and 11)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import serializers

from memory.api.base import Given, operation
from memory.api.fields import FilterField, NameField, OneOfField
from memory.api.found import (
    BELOW,
    FULL,
    ONLY_FULL,
    PackedMessageSerializer,
    ReadOptionsSerializer,
    SignalsSerializer,
    found_message_json,
)
from memory.api.memories import MemorySerializer, memory_json
from memory.api.rendering import Json, answer_form, json_response
from memory.api.request_events import search_event
from memory.api.retrieval import ReadViewSet
from memory.api.schemas import ApiSerializer
from memory.domain.filters import All
from memory.reading.ranking import SEARCH_WEIGHTS
from memory.satellites.query.querying import (
    DEFAULT_LIMIT,
    MemoryQuery,
    QueryAnswer,
    QueryResult,
    QuotedMessage,
    query_memories,
)
from memory.selectors.filters import named_by
from memory.understanding.tools import default_tools

MAX_CATEGORIES = 100
BULLETS = "bullets"


class MemoryQuerySerializer(ReadOptionsSerializer):
    """A question, and which memories may answer it."""

    example = {
        "agent": "kyra",
        "user": "sarah",
        "query": "What does Sarah drink?",
        "filters": {"importance": {"gte": 5}},
    }

    categories = serializers.ListField(
        child=NameField(),
        required=False,
        allow_null=True,
        max_length=MAX_CATEGORIES,
        help_text="Only these; all that the agent may read if omitted.",
    )
    filters = FilterField(required=False, allow_null=True)
    return_ = OneOfField(choices=[BULLETS, FULL], required=False, default=BULLETS)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A missing or null filter holds for everything."""
        return {**super().validate(attrs), "filters": attrs.get("filters") or All()}


def _score() -> serializers.FloatField:
    return serializers.FloatField(
        allow_null=True,
        help_text="0-1; null for memories that were included with their whole category.",
    )


class BulletSerializer(ApiSerializer):
    """A memory as one line, `[category] text`; its person's own name stands for "User"."""

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


class QuotedMessageBulletSerializer(ApiSerializer):
    """A message as one line, `[SAID day by speaker]: text`."""

    id = serializers.UUIDField(help_text="The message's id.")
    text = serializers.CharField()
    tokens = serializers.IntegerField()
    score = serializers.FloatField(help_text="0-1, on the same scale as memories.")


class FullMessageSerializer(PackedMessageSerializer):
    """A message with the line that quotes it, and the signals behind its score."""

    text = serializers.CharField()


class _AnswerSerializer(ApiSerializer):
    tokens_used = serializers.IntegerField()
    token_budget = serializers.IntegerField()
    left_out = serializers.IntegerField(
        help_text="How many memories and messages did not fit the budget."
    )
    below_min_score = serializers.IntegerField(help_text=BELOW)
    warnings = serializers.ListField(child=serializers.CharField())


class BulletAnswerSerializer(_AnswerSerializer):
    """The answer for `return: bullets`."""

    return_ = serializers.ChoiceField(choices=[BULLETS])
    results = BulletSerializer(many=True)
    messages = QuotedMessageBulletSerializer(many=True)


class FullAnswerSerializer(_AnswerSerializer):
    """The answer for `return: full`."""

    return_ = serializers.ChoiceField(choices=ONLY_FULL)
    results = FullResultSerializer(many=True)
    messages = FullMessageSerializer(many=True)


class MemoryQueryViewSet(ReadViewSet):
    """The one read tool of the supervisor and its agents."""

    operations = {"query": ("hotpath", "search")}
    memory_actions = ("query",)

    @operation(
        body=MemoryQuerySerializer,
        answer=PolymorphicProxySerializer(
            component_name="MemoryQueryAnswer",
            serializers=[BulletAnswerSerializer, FullAnswerSerializer],
            resource_type_field_name=None,
        ),
    )
    def query(self, given: Given) -> HttpResponse:
        """The memories that match categories, types and filters and say most about a question.

        Messages come beside them as for every read: unless `include_raw` is false or types,
        categories or filters narrow the memories; none where a filter names several users.
        """
        asked = self.asked(given)
        read = asked.read
        viewer, filters = named_by(given["filters"], viewer=read.viewer)
        depth = read.depth
        if viewer.end_user_id is None and not viewer.names_nobody:
            depth = replace(depth, include_raw=False)
        shape = given["return"]
        sent = query_memories(
            viewer=viewer,
            query=MemoryQuery(
                question=read.question,
                token_budget=asked.token_budget,
                categories=tuple(dict.fromkeys(given.get("categories") or ())),
                memory_types=asked.memory_types,
                filters=filters,
                limit=read.limit or DEFAULT_LIMIT,
                min_score=read.min_score,
                weights=asked.given_weights or SEARCH_WEIGHTS,
                depth=depth,
            ),
            render=partial(_answer, shape),
            form=answer_form(FullAnswerSerializer if shape == FULL else BulletAnswerSerializer),
            tools=default_tools(),
            now=timezone.now(),
        )
        self.noted([search_event(viewer, sent)])
        return json_response(sent.body)


def _answer(shape: str, answer: QueryAnswer) -> Json:
    shown, said = (_whole, _whole_message) if shape == FULL else (_bullet, _message_bullet)
    return {
        "return": shape,
        "tokens_used": answer.tokens_used,
        "token_budget": answer.token_budget,
        "left_out": answer.left_out,
        "below_min_score": answer.below_min_score,
        "warnings": list(answer.warnings),
        "results": [shown(each) for each in answer.results],
        "messages": [said(each) for each in answer.messages],
    }


def _bullet(result: QueryResult) -> Json:
    return {
        "id": str(result.memory.pk),
        "category": result.memory.category,
        **_line(result),
        "score": result.score,
    }


def _whole(result: QueryResult) -> Json:
    scored = {"score": result.score, "signals": result.signals}
    return {**memory_json(result.memory), **_line(result), **scored}


def _message_bullet(quoted: QuotedMessage) -> Json:
    return {"id": str(quoted.message.id), **_line(quoted), "score": quoted.score}


def _whole_message(quoted: QuotedMessage) -> Json:
    return {**found_message_json(quoted.message), **_line(quoted)}


def _line(shown: QueryResult | QuotedMessage) -> Json:
    return {"text": shown.text, "tokens": shown.tokens}


urlpatterns = [
    path("memory/query", MemoryQueryViewSet.as_view({"post": "query"}), name="memory-query"),
]
