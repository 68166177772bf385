"""`memory.query`: one tool for an agent that wants to know something (seed 004, §§6 and 11)."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, refusals
from memory.api.callers import named_agent
from memory.api.operations import found_event
from memory.api.query_serializers import (
    FULL,
    BulletAnswerSerializer,
    FullAnswerSerializer,
    MemoryQuerySerializer,
)
from memory.clients.tools import default_tools
from memory.models import Memory
from memory.services.querying import MemoryQuery, QueryResult, query_memories


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
    def query(self, request: Request) -> Response:
        """Memories of some categories that match filters and say most about a question."""
        given = self.body(MemoryQuerySerializer)
        viewer, agent = named_agent(
            principal=self.principal,
            agent=given["agent"],
            user=given.get("user"),
            project=given.get("project"),
        )
        answer = query_memories(
            viewer=viewer,
            query=MemoryQuery(
                text=given["query"],
                token_budget=given.get("budget_tokens") or agent.token_budget,
                categories=tuple(dict.fromkeys(given.get("categories") or ())),
                filters=given["filters"],
                top_k=given["top_k"],
                threshold=given.get("threshold") or 0.0,
            ),
            tools=default_tools(),
            now=timezone.now(),
        )
        signals = [each.signals for each in answer.results if each.signals is not None]
        self.noted([found_event("search", signals, viewer=viewer, found=len(answer.results))])
        stats = {
            "return": given["return"],
            "tokens_used": answer.tokens_used,
            "token_budget": answer.token_budget,
            "left_out": answer.left_out,
        }
        if given["return"] == FULL:
            rows = [_whole_memory(each) for each in answer.results]
            return Response(FullAnswerSerializer({"results": rows, **stats}).data)
        return Response(BulletAnswerSerializer({"results": answer.results, **stats}).data)


def _whole_memory(result: QueryResult) -> Memory:
    """The memory carrying what the serializer shows beside it."""
    memory: Any = result.memory  # Any: it gets fields that no memory has
    memory.text, memory.tokens = result.text, result.tokens
    memory.score, memory.signals = result.score, result.signals
    row: Memory = memory
    return row
