"""`memory.query`: one tool for an agent that wants to know something (seed 004, §§6 and 11)."""

from __future__ import annotations

from functools import cache

import orjson
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework.request import Request

from memory.api.base import ApiViewSet, refusals
from memory.api.callers import named_agent
from memory.api.operations import found_event
from memory.api.plain_output import Plain, plain_memory, plain_signals
from memory.api.query_serializers import (
    BULLETS,
    FULL,
    BulletAnswerSerializer,
    FullAnswerSerializer,
    MemoryQuerySerializer,
)
from memory.api.written_output import JSON
from memory.clients.tools import default_tools
from memory.services.reading.query_answers import QueryAnswer, QueryResult
from memory.services.reading.querying import MemoryQuery, query_memories


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
        """Memories of some categories that match filters and say most about a question."""
        given = self.body(MemoryQuerySerializer)
        viewer, agent, _ = named_agent(
            principal=self.principal,
            agent=given["agent"],
            user=given.get("user"),
            project=given.get("project"),
        )
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
        return HttpResponse(sent.text, content_type=JSON)


def _bullets(answer: QueryAnswer) -> bytes:
    """What `BulletAnswerSerializer` shows of it."""
    return _written(BULLETS, answer, [_bullet(each) for each in answer.results])


def _whole_results(answer: QueryAnswer) -> bytes:
    """What `FullAnswerSerializer` shows of it."""
    return _written(FULL, answer, [_whole(each) for each in answer.results])


def _written(shape: str, answer: QueryAnswer, results: list[Plain]) -> bytes:
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


def _bullet(result: QueryResult) -> Plain:
    return {
        "id": str(result.memory.pk),
        "category": result.memory.category,
        "text": result.text,
        "tokens": result.tokens,
        "score": result.score,
    }


def _whole(result: QueryResult) -> Plain:
    return {
        **plain_memory(result.memory),
        "text": result.text,
        "tokens": result.tokens,
        "score": result.score,
        "signals": None if result.signals is None else plain_signals(result.signals),
    }


@cache
def _form(shape: str) -> str:
    """The fields of an answer, so that another release's are not taken for it."""
    return repr(FullAnswerSerializer() if shape == FULL else BulletAnswerSerializer())
