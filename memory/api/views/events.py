"""What was done, for the operator: operational events and their counts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, refusals
from memory.api.pagination import IdPagination
from memory.api.serializers.events import (
    EventCountQuerySerializer,
    EventCountSerializer,
    EventCountsSerializer,
    EventPage,
    EventQuerySerializer,
    EventSerializer,
)
from memory.selectors.events import EventFilters, event_counts, filtered_events
from teams.errors import InvalidError

DEFAULT_DAYS = 7
MAX_DAYS = 366


class EventViewSet(ApiViewSet):
    """Operational events of the team; a key of one agent sees none."""

    serializer_class = EventSerializer

    @extend_schema(
        operation_id="events_list",
        parameters=[EventQuerySerializer],
        responses={200: EventPage, **refusals(403, 422)},
    )
    def entries(self, request: Request) -> Response:
        """Operational events, newest first, a page at a time; they appear within a few seconds."""
        filters = self._filters(self.params(EventQuerySerializer))
        with self.team_scope():
            rows = filtered_events(team_id=self.principal.team_id, filters=filters)
            return Response(IdPagination().page_of(rows, request, EventSerializer))

    @extend_schema(
        operation_id="events_counts",
        parameters=[EventCountQuerySerializer],
        responses={200: EventCountsSerializer, **refusals(403, 422)},
    )
    def counts(self, request: Request) -> Response:
        """Counts of operational events by day; of the last seven days by default."""
        given = self.params(EventCountQuerySerializer)
        end = given.get("to") or timezone.now()
        given.setdefault("from", end - timedelta(days=DEFAULT_DAYS))
        if end - given["from"] > timedelta(days=MAX_DAYS):
            raise InvalidError(f"Ask for at most {MAX_DAYS} days at a time.", field="from")
        filters = self._filters(given)
        with self.team_scope():
            found = event_counts(team_id=self.principal.team_id, filters=filters)
            return Response({"results": EventCountSerializer(found, many=True).data})

    def _filters(self, given: dict[str, Any]) -> EventFilters:
        self.require_team_key("This needs a key of the team; this one acts only as one agent.")
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
