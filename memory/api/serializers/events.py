"""Operational events and their counts."""

from __future__ import annotations

from rest_framework import serializers

from memory.api.fields import NameField, OneOfField, ZonedDateTimeField
from memory.api.serializers.base import (
    ApiSerializer,
    LongPageQuerySerializer,
    QuerySerializer,
    page_schema,
)

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
    from_ = ZonedDateTimeField(required=False, help_text="At this time or later.")
    to = ZonedDateTimeField(required=False, help_text="Before this time.")


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
