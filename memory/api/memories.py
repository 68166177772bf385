"""Memories: stated, listed, searched, pinned, taken away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse, PolymorphicProxySerializer, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import IdPagination, page_schema, refusals
from memory.api.callers import check_agent, key_viewer, named_viewer
from memory.api.input import NewMemorySerializer
from memory.api.memory_actions import MemoryActions, code_of
from memory.api.operations import found_event, memory_event, write_event
from memory.api.output import (
    MemorySerializer,
    ReadMemorySerializer,
    WrittenMemorySerializer,
)
from memory.api.parameters import (
    MemoryFilterSerializer,
    NoQuerySerializer,
    ReasonQuerySerializer,
    SearchQuerySerializer,
)
from memory.api.said_output import SearchSerializer
from memory.clients.tools import default_tools
from memory.domain.types import MemoryType
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet
from memory.selectors.memories import MemoryFilters, filtered_memories, memory_for
from memory.selectors.relations import merged_into
from memory.services.deciding.state import delete_memory
from memory.services.reading.cascade import Depth
from memory.services.reading.ranking import Question
from memory.services.reading.retrieval import search_levels
from memory.services.writing.explicit import StatedMemory, remember
from teams.tenancy import team_scope

MemoryPage = page_schema("MemoryPage", MemorySerializer)
PER_REQUEST = 500


def one_or_many(
    name: str, serializer: type[serializers.Serializer[Any]]
) -> PolymorphicProxySerializer:
    """The schema of one object or a list of them."""
    return PolymorphicProxySerializer(
        component_name=name,
        serializers=[serializer, serializer(many=True)],
        resource_type_field_name=None,
        many=False,
    )


class MemoryViewSet(MemoryActions):
    """What the team's agents know."""

    lookup_value_converter = "uuid"
    operations = {
        "create": ("hotpath", "create"),
        "destroy": ("hotpath", "delete"),
        "search": ("hotpath", "search"),
        "correct": ("hotpath", "update"),
        "pin": ("hotpath", "update"),
        "restore": ("hotpath", "update"),
        "feedback": ("hotpath", "update"),
    }
    memory_actions = (
        "create",
        "list",
        "retrieve",
        "destroy",
        "search",
        "pin",
        "restore",
        "correct",
        "feedback",
        "related",
    )
    serializer_class = MemorySerializer

    @extend_schema(
        request=one_or_many("NewMemories", NewMemorySerializer),
        responses={
            201: one_or_many("WrittenMemories", WrittenMemorySerializer),
            200: OpenApiResponse(
                WrittenMemorySerializer, description="A duplicate: the existing memory."
            ),
            **refusals(403, 404, 409, 422),
        },
    )
    def create(self, request: Request) -> Response:
        """Store one memory or up to 500, all or none; each answer says what happened."""
        many = isinstance(request.data, list)
        given = _validated(request.data, many=many)
        for each in given:
            check_agent(principal=self.principal, agent=each.get("agent"))
        results = remember(
            viewer=key_viewer(self.principal),
            stated=[_stated(each) for each in given],
            tools=default_tools(),
            now=timezone.now(),
            prefix=many,
        )
        self.noted(write_event(each) for each in results)
        shown = self.written(results)
        if many:
            return Response(shown, status=status.HTTP_201_CREATED)
        return Response(shown[0], status=code_of(results[0]))

    @extend_schema(
        parameters=[MemoryFilterSerializer],
        responses={200: MemoryPage, **refusals(403, 422)},
    )
    def list(self, request: Request) -> Response:
        """Of the memories that the key may see, those that match every filter, last stored first.

        What was stored later may be of an earlier time: `created_at` says when it was said.
        `agent`, `user` and `project` are filters like all others: they say whose the memories are,
        not who asks.
        """
        given = self.params(MemoryFilterSerializer)
        check_agent(principal=self.principal, agent=given.get("agent"))
        given.pop("limit", None)
        given.pop("cursor", None)
        with team_scope(team_ids=[self.principal.team_id], actor=self.principal.actor):
            rows = filtered_memories(
                viewer=key_viewer(self.principal), filters=MemoryFilters(**given)
            )
            return Response(IdPagination().page_of(rows, request, MemorySerializer))

    @extend_schema(responses={200: ReadMemorySerializer, **refusals(403, 404, 422)})
    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One memory, whatever its status."""
        self.params(NoQuerySerializer)
        viewer = key_viewer(self.principal)
        with team_scope(team_ids=[self.principal.team_id], actor=self.principal.actor):
            memory = memory_for(viewer=viewer, memory_id=pk)
            memory.merged_from = merged_into(viewer=viewer, memory=memory)  # type: ignore[attr-defined]
            return Response(ReadMemorySerializer(memory).data)

    @extend_schema(
        request=None,
        parameters=[ReasonQuerySerializer],
        responses={
            200: OpenApiResponse(MemorySerializer, description="Soft-deleted, nothing is lost."),
            **refusals(403, 404, 422),
        },
    )
    def destroy(self, request: Request, pk: UUID) -> Response:
        """Take a memory out of every read; it stays readable by its id."""
        given = self.params(ReasonQuerySerializer)
        memory = delete_memory(
            viewer=key_viewer(self.principal), memory_id=pk, reason=given.get("reason", "")
        )
        self.noted([memory_event("delete", memory)])
        return self.shown(memory.pk)

    @extend_schema(
        parameters=[SearchQuerySerializer],
        responses={200: SearchSerializer, **refusals(403, 404, 422)},
    )
    @action(detail=False, methods=["get"])
    def search(self, request: Request) -> Response:
        """Memories by meaning and words, best first, with the signals behind each score.

        Where memories say little about it, or with `include_raw`, the messages themselves too,
        with the level `raw`. A filter of memories leaves them out unless they are asked for. A
        request's first line has room for 8,190 bytes in all (414 beyond): a longer question goes to
        `POST /v1/memory/query`.
        """
        given = self.params(SearchQuerySerializer)
        viewer = named_viewer(
            principal=self.principal,
            agent=given.get("agent"),
            user=given.get("user"),
            project=given.get("project"),
        )
        found = search_levels(
            viewer=viewer,
            rows=_filtered(given),
            depth=Depth(given.get("include_cold"), given.get("include_raw")),
            question=Question(given["query"]),
            limit=given["limit"],
            tools=default_tools(),
            now=timezone.now(),
        )
        similarity = max((each.signals.cosine for each in found.memories), default=None)
        count = len(found.results)
        self.noted([found_event("search", viewer=viewer, found=count, similarity=similarity)])
        return Response(SearchSerializer(found).data)


def _filtered(given: dict[str, Any]) -> MemoryQuerySet | None:  # Any: checked parameters
    """What the search is narrowed to; None where it is not."""
    if given["min_importance"] <= 1 and not given.get("memory_types"):
        return None
    rows = Memory.objects.filter(importance__gte=given["min_importance"])
    if given.get("memory_types"):
        rows = rows.filter(memory_type__in=given["memory_types"])
    return rows


def _validated(data: Any, *, many: bool) -> Sequence[dict[str, Any]]:
    if many and not data:
        raise serializers.ValidationError("Send at least one memory.")
    if many and len(data) > PER_REQUEST:
        raise serializers.ValidationError(
            f"Send at most {PER_REQUEST} memories at a time, not {len(data)}."
        )
    checked = NewMemorySerializer(data=data, many=many)
    checked.is_valid(raise_exception=True)
    return list(checked.validated_data) if many else [checked.validated_data]


def _stated(given: dict[str, Any]) -> StatedMemory:
    return StatedMemory(
        content=given["content"],
        memory_type=MemoryType(given["memory_type"]),
        importance=given["importance"],
        is_pinned=given["is_pinned"],
        agent=given.get("agent"),
        user=given.get("user"),
        project=given.get("project"),
        conversation=given.get("conversation"),
        subject=given.get("subject") or "",
        category=given.get("category") or "",
        tags=tuple(given.get("tags", ())),
        confidence=given["confidence"],
        created_at=given.get("created_at"),
        valid_from=given.get("valid_from"),
        valid_to=given.get("valid_to"),
        message_ids=tuple(given.get("message_ids", ())),
        external_id=given.get("external_id"),
        check=given["check"],
    )
