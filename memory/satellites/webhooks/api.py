"""The API of webhooks."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import orjson
from django.urls import path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import WITH_CONFLICT, ApiViewSet, Given, operation
from memory.api.fields import (
    NameField,
    OneOfField,
    StrictBooleanField,
    TextField,
    ZonedDateTimeField,
)
from memory.api.pagination import LogPagination
from memory.api.schemas import (
    ApiSerializer,
    LongPageQuerySerializer,
    PageQuerySerializer,
    QuerySerializer,
    StrictSerializer,
    page_schema,
)
from memory.satellites.webhooks import endpoints
from memory.satellites.webhooks.calls import secret_of
from memory.satellites.webhooks.endpoints import EndpointWithSecret
from memory.satellites.webhooks.models import WEBHOOK_EVENTS, WebhookDelivery, WebhookEndpoint
from teams.errors import ConflictError
from teams.services.idempotency import Answer
from teams.tenancy import database_now

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


class WebhookChangeSerializer(StrictSerializer):
    """The new values of an endpoint; fields left out stay unchanged."""

    url = TextField(required=False, max_length=2000, help_text=_URL)
    events = WebhookEventsField(required=False, min_length=1, max_length=len(EVENTS))
    name = NameField(required=False, max_length=200, help_text="What it is for.")
    include_text = StrictBooleanField(required=False, help_text=_TEXT)
    enabled = StrictBooleanField(
        required=False,
        source="is_enabled",
        help_text="While it is disabled nothing is kept for it.",
    )


class NewWebhookSerializer(WebhookChangeSerializer):
    """An endpoint to set up."""

    example = {
        "url": "https://example.com/hooks/memory",
        "events": ["memory.created"],
        "name": "Search index",
    }

    url = TextField(max_length=2000, help_text=_URL)
    events = WebhookEventsField(min_length=1, max_length=len(EVENTS))
    include_text = StrictBooleanField(required=False, default=False, help_text=_TEXT)
    enabled = None  # type: ignore[assignment]  # DRF's way to leave a field out


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
    """Filters of the list of deliveries."""

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
    """The dead deliveries to send again."""

    since = ZonedDateTimeField(help_text="Those of events since then.")


class ReplayedSerializer(ApiSerializer):
    """The number of deliveries that are pending again."""

    replayed = serializers.IntegerField()


WebhookPage = page_schema("WebhookPage", WebhookSerializer)
WebhookDeliveryPage = page_schema("WebhookDeliveryPage", WebhookDeliverySerializer)


class WebhookViewSet(ApiViewSet):
    """Programs of the team that are told of changes. Each address needs a key of the team."""

    _made: EndpointWithSecret | None = None

    def check_permissions(self, request: Request) -> None:
        """Also ForbiddenError for a key of one agent."""
        super().check_permissions(request)
        self.require_team_key("Webhooks need a key of the team, bound to no agent.")

    @operation(
        "webhooks_create",
        body=NewWebhookSerializer,
        answer={201: (WebhookWithSecretSerializer, "It is told from now.")},
        refuses=(403, 409, 422),
    )
    def create(self, given: Given) -> Response:
        """Set up an endpoint; the answer alone shows its secret. A team has 20 at most."""
        with self.team_scope():
            made = endpoints.create_endpoint(team_id=self.principal.team_id, **given)
            return self._shown_once(made, status=201)

    @operation("webhooks_list", query=PageQuerySerializer, answer=WebhookPage, refuses=(403, 422))
    def entries(self, given: Given) -> Response:
        """The team's endpoints, newest first."""
        with self.team_scope():
            rows = WebhookEndpoint.objects.filter(team_id=self.principal.team_id)
            return self.page(rows, WebhookSerializer)

    @operation("webhooks_retrieve", query=QuerySerializer, answer=WebhookSerializer)
    def load(self, given: Given, pk: UUID) -> Response:
        """An endpoint, without its secret."""
        with self.team_scope():
            return Response(WebhookSerializer(self._endpoint(pk)).data)

    @operation("webhooks_partial_update", body=WebhookChangeSerializer, answer=WebhookSerializer)
    def change(self, given: Given, pk: UUID) -> Response:
        """Change an endpoint, or enable it again; what waits is sent to a new address."""
        with self.team_scope():
            changed = endpoints.change_endpoint(endpoint=self._endpoint(pk), changes=given)
            return Response(WebhookSerializer(changed).data)

    @operation("webhooks_destroy", query=QuerySerializer, answer={204: None})
    def remove(self, given: Given, pk: UUID) -> Response:
        """Remove an endpoint with all that waits for it."""
        with self.team_scope():
            endpoints.delete_endpoint(endpoint=self._endpoint(pk))
        return Response(status=204)

    @operation("webhooks_rotate_secret", body=StrictSerializer, answer=WebhookWithSecretSerializer)
    def rotate(self, given: Given, pk: UUID) -> Response:
        """Give it a new secret, which this answer alone shows; for 24 hours the old one signs too.

        A rotation within these 24 hours ends the older of the two at once.
        """
        with self.team_scope():
            made = endpoints.rotate_secret(endpoint=self._endpoint(pk), now=database_now())
            return self._shown_once(made, status=200)

    @operation(
        "webhooks_test",
        body=StrictSerializer,
        answer={202: (WebhookDeliverySerializer, "It is sent in a moment.")},
        refuses=WITH_CONFLICT,
    )
    def test(self, given: Given, pk: UUID) -> Response:
        """Send it an event of the type `webhook.test`; its deliveries tell what became of it."""
        with self.team_scope():
            sent = endpoints.send_test(endpoint=self._endpoint(pk), now=database_now())
            return Response(WebhookDeliverySerializer(sent).data, status=202)

    @operation(
        "webhooks_deliveries", query=WebhookDeliveryFilterSerializer, answer=WebhookDeliveryPage
    )
    def deliveries(self, given: Given, pk: UUID) -> Response:
        """Lists sent, pending and dead deliveries, the latest first; kept for WEBHOOK_DAYS."""
        with self.team_scope():
            rows = WebhookDelivery.objects.filter(
                team_id=self.principal.team_id, endpoint=self._endpoint(pk), **given
            )
            return self.page(rows, WebhookDeliverySerializer, LogPagination)

    @operation(
        "webhooks_replay", body=ReplaySerializer, answer=ReplayedSerializer, refuses=WITH_CONFLICT
    )
    def replay(self, given: Given, pk: UUID) -> Response:
        """Send all dead deliveries since a time again, under the ids that they had."""
        with self.team_scope():
            count = endpoints.replay(
                endpoint=self._endpoint(pk), now=database_now(), dead_since=given["since"]
            )
            return Response({"replayed": count})

    @operation(
        "webhooks_replay_delivery",
        body=StrictSerializer,
        answer=ReplayedSerializer,
        refuses=WITH_CONFLICT,
    )
    def replay_one(self, given: Given, pk: UUID, delivery_id: UUID) -> Response:
        """Send one delivery again under the id that it had; one that waits is tried at once."""
        with self.team_scope():
            count = endpoints.replay(
                endpoint=self._endpoint(pk), now=database_now(), delivery_id=delivery_id
            )
            return Response({"replayed": count})

    def answer_to_keep(self, answer: Answer) -> Answer:
        """The answer with what its secret is made of, as the endpoint's row keeps it."""
        if self._made is None:
            return answer
        return _with_secret(answer, self._made.endpoint.secret)

    def answer_again(self, kept: Answer) -> Answer:
        """The answer with its secret; raises ConflictError where the secret's key is gone."""
        given = orjson.loads(kept.body)
        if "secret" not in given:
            return kept
        secret = secret_of(given["secret"])
        if secret is None:
            raise ConflictError("The server's key was changed: rotate the secret of this webhook.")
        return _with_secret(kept, secret)

    def _shown_once(self, made: EndpointWithSecret, *, status: int) -> Response:
        self._made = made
        return Response(WebhookWithSecretSerializer(made).data, status=status)

    def _endpoint(self, pk: UUID) -> WebhookEndpoint:
        return endpoints.endpoint_of(team_id=self.principal.team_id, endpoint_id=pk)


def _with_secret(answer: Answer, secret: str) -> Answer:
    given = orjson.loads(answer.body)
    return replace(answer, body=orjson.dumps({**given, "secret": secret}).decode())


urlpatterns = [
    path("webhooks", WebhookViewSet.as_view({"get": "entries", "post": "create"})),
    path(
        "webhooks/<uuid:pk>",
        WebhookViewSet.as_view({"get": "load", "patch": "change", "delete": "remove"}),
    ),
    path("webhooks/<uuid:pk>/rotate-secret", WebhookViewSet.as_view({"post": "rotate"})),
    path("webhooks/<uuid:pk>/test", WebhookViewSet.as_view({"post": "test"})),
    path("webhooks/<uuid:pk>/deliveries", WebhookViewSet.as_view({"get": "deliveries"})),
    path(
        "webhooks/<uuid:pk>/deliveries/<uuid:delivery_id>/replay",
        WebhookViewSet.as_view({"post": "replay_one"}),
    ),
    path("webhooks/<uuid:pk>/replay", WebhookViewSet.as_view({"post": "replay"})),
]
