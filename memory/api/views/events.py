"""Operational events and their counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, answers
from memory.api.fields import NameField, OneOfField, ZonedDateTimeField
from memory.api.pagination import IdPagination
from memory.api.serializers.base import (
    ApiSerializer,
    LongPageQuerySerializer,
    QuerySerializer,
    page_schema,
)
from memory.selectors.figures import EventFilters, event_counts, filtered_events
from teams.errors import InvalidError

STATUSES = ("ok", "error", "skipped")


class EventCountQuerySerializer(QuerySerializer):
    """Filters of events; all must match."""

    node = NameField(required=False, max_length=40)
    op = serializers.ListField(
        child=NameField(max_length=40), required=False, help_text="Any of these."
    )
    status = OneOfField(choices=STATUSES, required=False)
    memory = serializers.UUIDField(required=False)
    conversation = serializers.UUIDField(required=False)
    user = NameField(required=False, max_length=200)
    from_ = ZonedDateTimeField(source="begin", required=False, help_text="At this time or later.")
    to = ZonedDateTimeField(source="end", required=False, help_text="Before this time.")


class EventQuerySerializer(EventCountQuerySerializer, LongPageQuerySerializer):
    """Filters of events, and which page."""


class EventSerializer(ApiSerializer):
    """An operation; `meta` holds figures and reasons, never contents."""

    id = serializers.UUIDField()
    node = serializers.CharField(help_text="Where: hotpath, context, worker, extract, …")
    op = serializers.CharField()
    status = serializers.CharField(help_text="ok, error or skipped")
    memory = serializers.UUIDField(source="memory_id", allow_null=True)
    user = serializers.CharField(allow_null=True)
    conversation = serializers.UUIDField(source="conversation_id", allow_null=True)
    similarity = serializers.FloatField(
        allow_null=True,
        help_text="Cosine similarity of the nearest neighbour or of the best result.",
    )
    meta = serializers.DictField()
    at = serializers.DateTimeField()


class EventCountSerializer(ApiSerializer):
    """How often an operation happened on one day (UTC)."""

    day = serializers.DateField()
    node = serializers.CharField()
    op = serializers.CharField()
    status = serializers.CharField()
    count = serializers.IntegerField()
    mean_similarity = serializers.FloatField(allow_null=True)
    best_similarity = serializers.FloatField(allow_null=True)


class EventCountsSerializer(ApiSerializer):
    """Counts by day, node, op and status, the latest day first."""

    results = EventCountSerializer(many=True)


EventPage = page_schema("EventPage", EventSerializer)


DEFAULT_DAYS = 7
MAX_DAYS = 366


class EventViewSet(ApiViewSet):
    """Operational events of the team; a key of one agent sees none."""

    serializer_class = EventSerializer

    @extend_schema(
        operation_id="events_list",
        parameters=[EventQuerySerializer],
        responses=answers(EventPage, 403, 422),
    )
    def list(self, request: Request) -> Response:
        """Operational events, newest first, a page at a time; they appear within a few seconds."""
        filters = self._filters(EventQuerySerializer)
        with self.team_scope():
            rows = filtered_events(team_id=self.principal.team_id, filters=filters)
            return Response(IdPagination().page_of(rows, request, EventSerializer))

    @extend_schema(
        operation_id="events_counts",
        parameters=[EventCountQuerySerializer],
        responses=answers(EventCountsSerializer, 403, 422),
    )
    @action(detail=False, methods=["get"])
    def counts(self, request: Request) -> Response:
        """Counts of operational events by day; of the last seven days by default."""
        filters = self._filters(EventCountQuerySerializer)
        end = filters.end or timezone.now()
        begin = filters.begin or end - timedelta(days=DEFAULT_DAYS)
        if end - begin > timedelta(days=MAX_DAYS):
            raise InvalidError(f"Ask for at most {MAX_DAYS} days at a time.", field="from")
        with self.team_scope():
            found = event_counts(
                team_id=self.principal.team_id, filters=replace(filters, begin=begin)
            )
            return Response({"results": EventCountSerializer(found, many=True).data})

    def _filters(self, serializer: type[QuerySerializer]) -> EventFilters:
        given = self.filters(serializer)
        self.require_team_key("This needs a key of the team; this one acts only as one agent.")
        return EventFilters(**given)
