"""What was done, for the operator: operational events and their counts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, IdPagination, page_schema, refusals
from memory.api.fields import NameField, OneOfField, ZonedDateTimeField
from memory.api.parameters import QuerySerializer
from memory.selectors.events import EventFilters, event_counts, filtered_events
from teams.errors import ForbiddenError, InvalidError
from teams.tenancy import team_scope

STATUSES = ("ok", "error", "skipped")
DEFAULT_DAYS = 7
MAX_DAYS = 366


class EventCountQuerySerializer(QuerySerializer):
    """What events are narrowed to; all that are given must hold."""

    node = NameField(required=False, max_length=40)
    op = serializers.ListField(
        child=NameField(max_length=40), required=False, help_text="Any of these."
    )
    status = OneOfField(choices=STATUSES, required=False)
    memory = serializers.UUIDField(required=False)
    conversation = serializers.UUIDField(required=False)
    user = NameField(required=False, max_length=200)
    to = ZonedDateTimeField(required=False, help_text="Before this time.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # `from` is a word of Python, so it cannot stand above.
        begin = ZonedDateTimeField(required=False, help_text="At this time or later.")
        return {**super().get_fields(), "from": begin}


class EventQuerySerializer(EventCountQuerySerializer):
    """What events are narrowed to, and which page."""

    limit = serializers.IntegerField(required=False, min_value=1, max_value=500, default=50)
    cursor = serializers.CharField(required=False)


class EventSerializer(serializers.Serializer[Any]):
    """Something that was done; `meta` holds figures and reasons, never contents."""

    id = serializers.UUIDField()
    node = serializers.CharField(help_text="Where: hotpath, context, worker, extract, …")
    op = serializers.CharField()
    status = serializers.CharField(help_text="ok, error or skipped")
    memory = serializers.UUIDField(source="memory_id", allow_null=True)
    user = serializers.CharField(allow_null=True)
    conversation = serializers.UUIDField(source="conversation_id", allow_null=True)
    similarity = serializers.FloatField(
        allow_null=True, help_text="Cosine of the nearest neighbour, or of the best result."
    )
    meta = serializers.DictField()
    at = serializers.DateTimeField()


class EventCountSerializer(serializers.Serializer[Any]):
    """How often something was done on one day (UTC)."""

    day = serializers.DateField()
    node = serializers.CharField()
    op = serializers.CharField()
    status = serializers.CharField()
    count = serializers.IntegerField()
    mean_similarity = serializers.FloatField(allow_null=True)
    best_similarity = serializers.FloatField(allow_null=True)


class EventCountsSerializer(serializers.Serializer[Any]):
    """Counts by day, node, op and status, the latest day first."""

    results = EventCountSerializer(many=True)


EventPage = page_schema("EventPage", EventSerializer)


class EventViewSet(ApiViewSet):
    """Operational events of the team; a key of one agent sees none."""

    serializer_class = EventSerializer

    @extend_schema(
        operation_id="events_list",
        parameters=[EventQuerySerializer],
        responses={200: EventPage, **refusals(403, 422)},
    )
    def entries(self, request: Request) -> Response:
        """What was done, newest first, a page at a time; a few seconds old when it gets here."""
        filters = self._filters(self.params(EventQuerySerializer))
        with team_scope(team_ids=[self.principal.team_id], actor=self.principal.actor):
            rows = filtered_events(team_id=self.principal.team_id, filters=filters)
            return Response(IdPagination().page_of(rows, request, EventSerializer))

    @extend_schema(
        operation_id="events_counts",
        parameters=[EventCountQuerySerializer],
        responses={200: EventCountsSerializer, **refusals(403, 422)},
    )
    def counts(self, request: Request) -> Response:
        """How often what was done, by day; of the last seven days if no time is given."""
        given = self.params(EventCountQuerySerializer)
        end = given.get("to") or timezone.now()
        given.setdefault("from", end - timedelta(days=DEFAULT_DAYS))
        if end - given["from"] > timedelta(days=MAX_DAYS):
            raise InvalidError(f"Ask for at most {MAX_DAYS} days at a time.", field="from")
        filters = self._filters(given)
        with team_scope(team_ids=[self.principal.team_id], actor=self.principal.actor):
            found = event_counts(team_id=self.principal.team_id, filters=filters)
            return Response({"results": EventCountSerializer(found, many=True).data})

    def _filters(self, given: dict[str, Any]) -> EventFilters:
        if self.principal.agent_id is not None:
            raise ForbiddenError("This needs a key of the team; this one acts only as one agent.")
        return EventFilters(
            node=given.get("node"),
            op=given.get("op", ()),
            status=given.get("status"),
            memory=given.get("memory"),
            conversation=given.get("conversation"),
            user=given.get("user"),
            begin=given.get("from"),
            end=given.get("to"),
        )
