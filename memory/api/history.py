"""What happened to memories: one memory's history, and the log."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, IdPagination, page_schema, refusals
from memory.api.callers import key_viewer
from memory.api.history_output import (
    HistoryQuerySerializer,
    HistorySerializer,
    LogEntryWithStateSerializer,
    LogQuerySerializer,
    StepSerializer,
    VersionSerializer,
)
from memory.selectors.looking_back.history import (
    log_of,
    names_in,
    step_of,
    versions_of,
    with_messages,
)
from memory.selectors.looking_back.log import LogFilters, filtered_log
from teams.tenancy import team_scope

LogPage = page_schema("LogPage", LogEntryWithStateSerializer)


class LogPagination(IdPagination):
    """The log, newest first."""

    ordering = "-seq"
    position_field = serializers.IntegerField(min_value=0, max_value=2**63 - 1)


class HistoryViewSet(ApiViewSet):
    """The history of one memory."""

    serializer_class = StepSerializer

    @extend_schema(
        operation_id="memories_history",
        parameters=[HistoryQuerySerializer],
        responses={200: HistorySerializer, **refusals(404, 422)},
    )
    def history(self, request: Request, pk: UUID) -> Response:
        """What happened to a memory, newest first: each change, who made it and why.

        All versions of it are one history; each one comes with its provenance, down to the messages
        it rests on, as far as this key may see them.
        """
        self.params(HistoryQuerySerializer)
        viewer = key_viewer(self.principal)
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            memories = versions_of(viewer=viewer, memory_id=pk)
            by_id = {row.pk: row for row in memories}
            pages = LogPagination()
            rows = pages.paginate_queryset(log_of(viewer=viewer, memories=memories), request) or []
            names = names_in(memories)
            steps = [step_of(row, memories=by_id, names=names) for row in rows]
            versions = with_messages(viewer=viewer, memories=memories)
            return Response(
                {
                    "next": pages.get_next_link(),
                    "previous": pages.get_previous_link(),
                    "results": StepSerializer(steps, many=True).data,
                    "versions": VersionSerializer(versions, many=True).data,
                }
            )


class AuditLogViewSet(ApiViewSet):
    """The log of every change."""

    serializer_class = LogEntryWithStateSerializer

    @extend_schema(
        operation_id="audit_log",
        parameters=[LogQuerySerializer],
        responses={200: LogPage, **refusals(422)},
    )
    def entries(self, request: Request) -> Response:
        """Changes of the memories that this key may see, newest first, a page at a time."""
        given = self.params(LogQuerySerializer)
        viewer = key_viewer(self.principal)
        filters = LogFilters(
            memory=given.get("memory"),
            event=given.get("event", ()),
            actor=given.get("actor"),
            conversation=given.get("conversation"),
            user=given.get("user"),
            begin=given.get("from"),
            end=given.get("to"),
        )
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            rows = filtered_log(viewer=viewer, filters=filters)
            return Response(LogPagination().page_of(rows, request, LogEntryWithStateSerializer))
