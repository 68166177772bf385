"""The past: one memory's history, the log, the state at an instant, a person's export."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from memory.api.base import ApiViewSet, answers, refusals
from memory.api.pagination import BAD_CURSOR, IdPagination, LogPagination
from memory.api.serializers.audit import (
    ChangePageSerializer,
    ChangeSerializer,
    HistorySerializer,
    LogEntryWithStateSerializer,
    LogQuerySerializer,
    PastMemorySerializer,
    StatePageSerializer,
    StateQuerySerializer,
    StepSerializer,
    VersionSerializer,
)
from memory.api.serializers.base import LongPageQuerySerializer, page_schema
from memory.selectors.history.log import LogFilters, filtered_log
from memory.selectors.history.memory_history import (
    log_of,
    names_in,
    step_of,
    versions_of,
    with_messages,
)
from memory.selectors.history.states import changes_between, commits_seen, state_at
from memory.selectors.memories import MemoryFilters

JSON_LINES = "application/x-ndjson"
LogPage = page_schema("LogPage", LogEntryWithStateSerializer)


class HistoryViewSet(ApiViewSet):
    """The history of one memory."""

    serializer_class = StepSerializer

    @extend_schema(
        operation_id="memories_history",
        parameters=[LongPageQuerySerializer],
        responses=answers(HistorySerializer, 404, 422),
    )
    def history(self, request: Request, pk: UUID) -> Response:
        """The history of a memory, newest first: each change, who made it and why.

        All its versions are one history; each has its provenance, with those source messages that
        this key may see.
        """
        self.params(LongPageQuerySerializer)
        viewer = self.viewer
        with self.team_scope():
            memories = versions_of(viewer=viewer, memory_id=pk)
            by_id = {row.pk: row for row in memories}
            pages = LogPagination()
            rows = pages.paginate_queryset(log_of(viewer=viewer, memories=memories), request) or []
            names = names_in(memories)
            steps = [step_of(row, memories=by_id, names=names) for row in rows]
            versions = with_messages(viewer=viewer, memories=memories)
            return Response(
                pages.links()
                | {
                    "results": StepSerializer(steps, many=True).data,
                    "versions": VersionSerializer(versions, many=True).data,
                }
            )


class JsonLinesRenderer(JSONRenderer):
    """Lets a caller ask for JSON Lines, which the view writes itself; refusals are JSON."""

    media_type = JSON_LINES
    format = "jsonl"


class AuditViewSet(ApiViewSet):
    """The log of every change, what was known when, and what the team holds about a person."""

    serializer_class = LogEntryWithStateSerializer

    @extend_schema(
        operation_id="audit_log",
        parameters=[LogQuerySerializer],
        responses=answers(LogPage, 422),
    )
    @action(detail=False, methods=["get"])
    def log(self, request: Request) -> Response:
        """Changes of memories that this key may see, newest first, a page at a time."""
        filters = LogFilters(**self.filters(LogQuerySerializer))
        viewer = self.lister({"user": filters.user})
        with self.team_scope():
            rows = filtered_log(viewer=viewer, filters=filters)
            return Response(LogPagination().page_of(rows, request, LogEntryWithStateSerializer))

    @extend_schema(
        parameters=[StateQuerySerializer],
        responses={
            200: PolymorphicProxySerializer(
                component_name="StateOrChanges",
                serializers=[StatePageSerializer, ChangePageSerializer],
                resource_type_field_name=None,
                many=False,
            ),
            **refusals(403, 422),
        },
    )
    @action(detail=False, methods=["get"])
    def state(self, request: Request) -> Response:
        """The memories as they were at `at`, or the changes from then to `diff_to`, by pages.

        Rebuilt from the log and the immutable texts, never from the current state.
        """
        given = self.params(StateQuerySerializer)
        self.check_agent(given.get("agent"))
        at, to = given.pop("at"), given.pop("diff_to", None)
        limit, cursor = given.pop("limit", IdPagination.page_size), given.pop("cursor", None)
        filters = MemoryFilters(**given)
        with self.team_scope():
            if to is None:
                return Response(self._state(request, at, filters))
            found = changes_between(
                viewer=self.lister({"user": filters.user}),
                at=at,
                to=to,
                filters=filters,
                limit=limit,
                after=_place(cursor) if cursor is not None else None,
            )
            following = found.next_after and replace_query_param(
                request.build_absolute_uri(), "cursor", found.next_after.hex
            )
            changes = ChangeSerializer(found.changes, many=True).data
            return Response({"at": at, "diff_to": to, "next": following, "results": changes})

    def _state(self, request: Request, at: datetime, filters: MemoryFilters) -> dict[str, Any]:
        viewer = self.lister({"user": filters.user})
        state = state_at(viewer=viewer, at=at, filters=filters)
        page = IdPagination().page_of(state.memories, request, PastMemorySerializer)
        position, changed_at = commits_seen(viewer=viewer, instant=state.instant)
        return {"at": state.instant.at, "position": position, "changed_at": changed_at, **page}


def _place(cursor: str) -> UUID:
    try:
        return UUID(hex=cursor)
    except ValueError:
        raise serializers.ValidationError({"cursor": [BAD_CURSOR]}) from None
