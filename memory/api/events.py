"""Operational events and their counts, and reports of which memories were used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.response import Response

from memory.api.base import ApiViewSet, Given, operation
from memory.api.fields import ContentField, NameField, OneOfField, ZonedDateTimeField
from memory.api.forms import MAX_REF_CHARS
from memory.api.schemas import (
    ApiSerializer,
    LongPageQuerySerializer,
    QuerySerializer,
    StrictSerializer,
    page_schema,
)
from memory.domain.types import Signals, Work
from memory.reading.usage import report_usage
from memory.selectors.figures import EventFilters, event_counts, filtered_events
from teams.errors import InvalidError

MAX_FILES = 50
_SIGNALS = ("file_opened", "opened_files", "branch", "error", "time", "collaborator")


class WorkSerializer(StrictSerializer):
    """The work that an agent has in front of it; at least one signal is required."""

    file_opened = NameField(required=False, max_length=MAX_REF_CHARS)
    opened_files = serializers.ListField(
        child=NameField(max_length=MAX_REF_CHARS),
        required=False,
        max_length=MAX_FILES,
        help_text="Paths that were opened before `file_opened`.",
    )
    branch = NameField(required=False, max_length=MAX_REF_CHARS)
    error = ContentField(required=False, max_length=2000)
    time = ZonedDateTimeField(
        required=False, help_text="The time of the work: its hour counts in the team's time zone."
    )
    collaborator = NameField(required=False, max_length=200)

    def validate(self, attrs: dict[str, object]) -> dict[str, object]:
        if not any(attrs.get(name) for name in _SIGNALS):
            raise serializers.ValidationError(
                {"file_opened": f"Give at least one signal: {', '.join(_SIGNALS)}."}
            )
        return attrs


def signals_of(given: Mapping[str, Any]) -> Signals:  # Any: a checked field
    """The signals of a checked request."""
    return Signals(
        current_file=given.get("file_opened", ""),
        opened_files=tuple(given.get("opened_files", ())),
        branch=given.get("branch", ""),
        recent_errors=tuple(filter(None, [given.get("error")])),
        collaborator=given.get("collaborator", ""),
        time=given.get("time"),
    )


MOST_REPORTED = 100


class UsageReportSerializer(StrictSerializer):
    """The memories that an agent used, and those that it was given and did not."""

    cited = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        max_length=MOST_REPORTED,
        help_text="Ids of memories that were used in an answer or an action.",
    )
    ignored = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        max_length=MOST_REPORTED,
        help_text="Ids of memories that were told and of no use.",
    )
    work = WorkSerializer(
        required=False,
        allow_null=True,
        help_text="What the agent had in front of it: what was cited is predicted by"
        " POST /v1/context/predict when such signals come again.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        cited, ignored = attrs.get("cited") or [], attrs.get("ignored") or []
        if not cited and not ignored:
            raise serializers.ValidationError({"cited": ["Name a memory, here or in ignored."]})
        if both := [each for each in ignored if each in set(cited)]:
            raise serializers.ValidationError({"ignored": [f"{both[0]} is in cited as well."]})
        return attrs


class UsageReportedSerializer(ApiSerializer):
    """The number of different memories counted."""

    cited = serializers.IntegerField()
    ignored = serializers.IntegerField()


class UsageViewSet(ApiViewSet):
    """Agents' reports on the use of memories."""

    operations = {"report": ("hotpath", "update")}
    memory_actions = ("report",)

    @operation("usage_report", body=UsageReportSerializer, answer=UsageReportedSerializer)
    def report(self, given: Given) -> Response:
        """Report which memories of a prompt were used (`cited`) and which were not (`ignored`).

        Citations raise and ignores lower `signals.usage`, which moves a memory's score by at most
        0.03. A memory counts once a report, and its importance stays: that is what feedback on one
        memory changes. Where a memory cannot be seen by this key (404) nothing is counted.
        """
        cited, ignored = (
            list(dict.fromkeys(given.get(name) or ())) for name in ("cited", "ignored")
        )
        report_usage(
            viewer=self.viewer,
            cited=cited,
            ignored=ignored,
            work=Work(signals_of(given["work"]), timezone.now()) if given.get("work") else None,
        )
        return Response({"cited": len(cited), "ignored": len(ignored)})


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
    """The number of times an operation happened on one day (UTC)."""

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

    @operation("events_list", query=EventQuerySerializer, answer=EventPage, refuses=(403, 422))
    def list(self, given: Given) -> Response:
        """Operational events, newest first, a page at a time; they appear within a few seconds."""
        filters = self._filters(EventQuerySerializer)
        with self.team_scope():
            rows = filtered_events(team_id=self.principal.team_id, filters=filters)
            return self.page(rows, EventSerializer)

    @operation(
        "events_counts",
        query=EventCountQuerySerializer,
        answer=EventCountsSerializer,
        refuses=(403, 422),
    )
    @action(detail=False, methods=["get"])
    def counts(self, given: Given) -> Response:
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
