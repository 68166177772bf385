"""`memory.query`: one tool for an agent that wants to know something (seed 004, §§6 and 11)."""

from __future__ import annotations

from functools import cache

import orjson
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework.request import Request

from memory.api.base import ApiViewSet, refusals
from memory.api.memory_json import MEDIA_TYPE, Json, memory_json
from memory.api.request_events import found_event
from memory.api.serializers.query import (
    BULLETS,
    FULL,
    BulletAnswerSerializer,
    FullAnswerSerializer,
    MemoryQuerySerializer,
)
from memory.clients.tools import default_tools
from memory.services.read.querying import (
    MemoryQuery,
    QueryAnswer,
    QueryResult,
    query_memories,
)


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
            write=_whole_results if shape == FULL else _bullets,
            form=_form(shape),
            tools=default_tools(),
            now=timezone.now(),
        )
        event = found_event("search", viewer=viewer, found=sent.found, similarity=sent.similarity)
        self.noted([event])
        return HttpResponse(sent.body, content_type=MEDIA_TYPE)


def _bullets(answer: QueryAnswer) -> bytes:
    """What `BulletAnswerSerializer` shows of it."""
    return _written(BULLETS, answer, [_bullet(each) for each in answer.results])


def _whole_results(answer: QueryAnswer) -> bytes:
    """What `FullAnswerSerializer` shows of it."""
    return _written(FULL, answer, [_whole(each) for each in answer.results])


def _written(shape: str, answer: QueryAnswer, results: list[Json]) -> bytes:
    return orjson.dumps(
        {
            "return": shape,
            "tokens_used": answer.tokens_used,
            "token_budget": answer.token_budget,
            "left_out": answer.left_out,
            "warnings": list(answer.warnings),
            "results": results,
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


@cache
def _form(shape: str) -> str:
    """The fields of an answer, so that another release's are not taken for it."""
    return repr(FullAnswerSerializer() if shape == FULL else BulletAnswerSerializer())
