"""Webhooks: endpoints, their secrets, and what was or will be sent to them."""

from __future__ import annotations

from rest_framework import serializers

from memory.api.fields import (
    NameField,
    OneOfField,
    StrictBooleanField,
    TextField,
    ZonedDateTimeField,
)
from memory.api.serializers.base import ApiSerializer, LongPageQuerySerializer, StrictSerializer
from teams.models import WebhookDelivery
from teams.models.webhooks import WEBHOOK_EVENTS

EVENTS = [(each, each) for each in WEBHOOK_EVENTS]
DELIVERY_STATES = WebhookDelivery.State.choices
_URL = "Where events are sent by POST: https, and no address of a private network."
_TEXT = (
    "Whether events of memories carry the text. That of a deleted memory, and of one that is an"
    " agent's own, is never sent."
)


class WebhookEventsField(serializers.ListField):
    """The events that an endpoint is told of."""

    child = OneOfField(choices=EVENTS)


class NewWebhookSerializer(StrictSerializer):
    """An endpoint to set up."""

    url = TextField(max_length=2000, help_text=_URL)
    events = WebhookEventsField(min_length=1, max_length=len(EVENTS))
    name = NameField(required=False, max_length=200, help_text="What it is for.")
    include_text = StrictBooleanField(required=False, default=False, help_text=_TEXT)


class WebhookChangeSerializer(StrictSerializer):
    """What an endpoint is set to; what is left out stays."""

    url = TextField(required=False, max_length=2000, help_text=_URL)
    events = WebhookEventsField(required=False, min_length=1, max_length=len(EVENTS))
    name = NameField(required=False, max_length=200)
    include_text = StrictBooleanField(required=False, help_text=_TEXT)
    enabled = StrictBooleanField(
        required=False, help_text="While it is disabled nothing is kept for it."
    )


class WebhookSerializer(ApiSerializer):
    """An endpoint that is told of events."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    url = serializers.CharField()
    events = serializers.ListField(child=serializers.ChoiceField(choices=EVENTS))
    include_text = serializers.BooleanField()
    enabled = serializers.BooleanField(source="is_enabled")
    note = serializers.CharField(help_text="Why it was disabled by itself.")
    failing_since = serializers.DateTimeField(
        allow_null=True, help_text="When the first of its failures in a row was."
    )
    old_secret_until = serializers.DateTimeField(
        allow_null=True, help_text="Until then the secret before the last rotation signs too."
    )
    created_at = serializers.DateTimeField()


class WebhookWithSecretSerializer(ApiSerializer):
    """An endpoint with its signing secret, which no other answer shows."""

    webhook = WebhookSerializer(source="endpoint")
    secret = serializers.CharField(help_text="whsec_ and the key in base64.")


class WebhookDeliveryFilterSerializer(LongPageQuerySerializer):
    """Which deliveries to list."""

    state = OneOfField(choices=DELIVERY_STATES, required=False)


class WebhookDeliverySerializer(ApiSerializer):
    """One event for one endpoint, and what became of it."""

    id = serializers.UUIDField(help_text="The `webhook-id` that the receiver sees.")
    type = serializers.CharField()
    state = serializers.ChoiceField(choices=DELIVERY_STATES)
    happened_at = serializers.DateTimeField()
    attempts = serializers.IntegerField()
    attempted_at = serializers.DateTimeField(allow_null=True)
    due_at = serializers.DateTimeField(help_text="When it is sent next, if it waits.")
    status_code = serializers.IntegerField(allow_null=True, help_text="Of the last answer.")
    error = serializers.CharField(help_text="Why the last attempt failed.")


class ReplaySerializer(StrictSerializer):
    """Which dead deliveries to send again."""

    since = ZonedDateTimeField(help_text="Those of events since then.")


class ReplayedSerializer(ApiSerializer):
    """How many deliveries wait again."""

    replayed = serializers.IntegerField()
