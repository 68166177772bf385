"""Memories stored, listed, read and searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.serializers import PolymorphicProxySerializerExtension
from drf_spectacular.utils import (
    Direction,
    OpenApiResponse,
    PolymorphicProxySerializer,
    extend_schema,
)
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import answers, refusals
from memory.api.found import SearchQuerySerializer, SearchSerializer
from memory.api.memories import (
    MemoryFilterSerializer,
    MemorySerializer,
    NewMemorySerializer,
    NoQuerySerializer,
    ReadMemorySerializer,
    RelatedMemorySerializer,
    RelatedSerializer,
    WrittenMemorySerializer,
)
from memory.api.memory_changes import HELD, MemoryChanges, code_of
from memory.api.memory_json import Json, answer_form, json_response
from memory.api.request_events import search_event, write_event
from memory.api.schemas import PER_REQUEST, page_schema
from memory.domain.forms import USUAL_TYPES, Form
from memory.domain.types import MemoryType, Scope
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet
from memory.reading.answers import Retrieval
from memory.reading.ranking import Question
from memory.reading.retrieval import Read, send_search
from memory.reading.search import Depth
from memory.selectors.memories import (
    MemoryFilters,
    filtered_memories,
    memory_for,
    merged_into,
    related_to,
)
from memory.selectors.names import is_guest
from memory.selectors.versions import levels_of_memory
from memory.understanding.tools import default_tools
from memory.writing.stating import StatedMemory, check_may_confirm, remember

MemoryPage = page_schema("MemoryPage", MemorySerializer)


class OneOrMany(PolymorphicProxySerializer):
    """One object, or a list of 1 to as many as a request may hold."""


class OneOrManyInSchema(PolymorphicProxySerializerExtension):  # type: ignore[no-untyped-call]
    """What the schema says of the list: how long it is."""

    target_class = OneOrMany  # type: ignore[assignment]
    priority = 1

    def map_serializer(self, auto_schema: Any, direction: Direction) -> dict[str, Any]:
        # Any: drf-spectacular's own types
        """The choice of both."""
        found = super().map_serializer(auto_schema, direction)  # type: ignore[no-untyped-call]
        length = {"minItems": 1, "maxItems": PER_REQUEST}
        either = [each | length if "items" in each else each for each in found["oneOf"]]
        return {**found, "oneOf": either}


def one_or_many(name: str, serializer: type[serializers.Serializer[Any]]) -> OneOrMany:
    """The schema of one object or a list of them."""
    return OneOrMany(
        component_name=name,
        serializers=[serializer, serializer(many=True)],
        resource_type_field_name=None,
        many=False,
    )


class MemoryViewSet(MemoryChanges):
    """What the team's agents know."""

    lookup_value_converter = "uuid"
    operations = {
        "create": ("hotpath", "create"),
        "partial_update": ("hotpath", "update"),
        "destroy": ("hotpath", "delete"),
        "search": ("hotpath", "search"),
        "correct": ("hotpath", "update"),
        "pin": ("hotpath", "update"),
        "restore": ("hotpath", "update"),
        "feedback": ("hotpath", "update"),
        "promote": ("hotpath", "update"),
    }
    memory_actions = (*operations, "list", "retrieve", "related")

    @extend_schema(
        request=one_or_many("NewMemories", NewMemorySerializer),
        responses={
            201: one_or_many("WrittenMemories", WrittenMemorySerializer),
            200: OpenApiResponse(
                WrittenMemorySerializer, description="A duplicate: the existing memory."
            ),
            202: OpenApiResponse(WrittenMemorySerializer, description=HELD),
            **refusals(403, 404, 409, 422),
        },
    )
    def create(self, request: Request) -> Response:
        """Store one memory, or up to 500 in one transaction; each result has its outcome."""
        many = isinstance(request.data, list)
        given = _validated(request.data, many=many)
        for each in given:
            self.check_agent(each.get("agent"))
            check_may_confirm(viewer=self.viewer, confirm=each["confirm"])
        results = remember(
            viewer=self.viewer,
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

    @extend_schema(parameters=[MemoryFilterSerializer], responses=answers(MemoryPage, 403, 422))
    def list(self, request: Request) -> Response:
        """The memories that the key may see and that match every filter, the latest stored first.

        A memory stored later may be about an earlier time: `created_at` is when it was said.
        `agent`, `user` and `project` filter by whom the memories belong to. A key of one agent
        sees the memories of people only where it names the `user`.
        """
        return self.listed(
            lambda given: filtered_memories(
                viewer=self.lister(given), filters=MemoryFilters(**given)
            ),
            filters=MemoryFilterSerializer,
            shown=MemorySerializer,
        )

    @extend_schema(responses=answers(ReadMemorySerializer, 403, 404, 422))
    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One memory, whatever its status."""
        self.params(NoQuerySerializer)
        with self.team_scope():
            memory = memory_for(viewer=self.viewer, memory_id=pk)
            memory.levels = asdict(levels_of_memory(memory))  # type: ignore[attr-defined]
            memory.merged_from = merged_into(viewer=self.viewer, memory=memory)  # type: ignore[attr-defined]
            return Response(ReadMemorySerializer(memory).data)

    @extend_schema(
        parameters=[SearchQuerySerializer],
        responses=answers(SearchSerializer, 403, 404, 422),
    )
    @action(detail=False, methods=["get"])
    def search(self, request: Request) -> HttpResponse:
        """Memories by meaning and words, best first, with the signals behind each score.

        Messages are ranked with them (level `raw`); with a filter of memories only where
        `include_raw` asks for them. A request line may have 8,190 bytes (414 beyond): use
        `POST /v1/memory/query` for a longer question.
        """
        given = self.params(SearchQuerySerializer)
        viewer = self.named_viewer(given)
        sent = send_search(
            Read(
                viewer=viewer,
                question=Question(given["query"]),
                tools=default_tools(),
                now=timezone.now(),
                limit=given["limit"],
                depth=Depth(
                    given.get("include_cold", False),
                    given.get("include_raw"),
                    include_private=MemoryType.AGENT_PRIVATE in (given.get("memory_types") or ()),
                ),
                rows=_filtered(given),
                min_score=given.get("min_score"),
            ),
            render=_search_answer,
            form=answer_form(SearchSerializer),
        )
        self.noted([search_event(viewer, sent)])
        return json_response(sent.body)

    @extend_schema(responses=answers(RelatedSerializer, 403, 404, 422))
    @action(detail=True, methods=["get"])
    def related(self, request: Request, pk: UUID) -> Response:
        """Memories that are directly related to it, the strongest relation first."""
        self.params(NoQuerySerializer)
        with self.team_scope():
            memory = memory_for(viewer=self.viewer, memory_id=pk)
            person = memory.end_user_id
            viewer = replace(
                self.viewer,
                end_user_id=person,
                sees_people=None,
                is_guest=person is not None
                and is_guest(team_id=memory.team_id, end_user_id=person),
            )
            found = related_to(viewer=viewer, memory=memory)
            return Response({"results": RelatedMemorySerializer(found, many=True).data})


def _search_answer(found: Retrieval) -> Json:
    return SearchSerializer(found).data


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
    form = Form(given["form"]) if given.get("form") else None
    usual = MemoryType.SEMANTIC if form is None else USUAL_TYPES.get(form, MemoryType.SEMANTIC)
    return StatedMemory(
        **{
            **given,
            "form": form,
            "payload": given.get("payload") or {},
            "memory_type": MemoryType(given.get("memory_type", usual)),
            "scope": Scope(given["scope"]) if given.get("scope") else None,
            "subject": given.get("subject") or "",
            "category": given.get("category") or "",
            "tags": tuple(given.get("tags", ())),
            "message_ids": tuple(given.get("message_ids", ())),
        }
    )
