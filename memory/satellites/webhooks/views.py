"""Webhooks: set up, changed, tested, and what was sent to them."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import orjson
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, answers, refusals
from memory.api.pagination import IdPagination, LogPagination
from memory.api.serializers.base import PageQuerySerializer, StrictSerializer, page_schema
from memory.api.serializers.memories import NoQuerySerializer
from memory.satellites.webhooks import endpoints
from memory.satellites.webhooks.endpoints import EndpointWithSecret
from memory.satellites.webhooks.serializers import (
    NewWebhookSerializer,
    ReplayedSerializer,
    ReplaySerializer,
    WebhookChangeSerializer,
    WebhookDeliveryFilterSerializer,
    WebhookDeliverySerializer,
    WebhookSerializer,
    WebhookWithSecretSerializer,
)
from memory.satellites.webhooks.signing import secret_of
from teams.clock import database_now
from teams.errors import ConflictError
from teams.models import WebhookDelivery, WebhookEndpoint
from teams.services.idempotency import Answer

_PK = OpenApiParameter("id", OpenApiTypes.UUID, OpenApiParameter.PATH)
_DELIVERY = OpenApiParameter("delivery_id", OpenApiTypes.UUID, OpenApiParameter.PATH)

WebhookPage = page_schema("WebhookPage", WebhookSerializer)
WebhookDeliveryPage = page_schema("WebhookDeliveryPage", WebhookDeliverySerializer)


class WebhookViewSet(ApiViewSet):
    """Programs of the team that are told of changes. Each address needs a key of the team."""

    _made: EndpointWithSecret | None = None

    def check_permissions(self, request: Request) -> None:
        """Also ForbiddenError for a key of one agent."""
        super().check_permissions(request)
        self.require_team_key("Webhooks need a key of the team, bound to no agent.")

    @extend_schema(
        operation_id="webhooks_create",
        request=NewWebhookSerializer,
        responses={
            201: OpenApiResponse(WebhookWithSecretSerializer, description="It is told from now."),
            **refusals(403, 409, 422),
        },
    )
    def create(self, request: Request) -> Response:
        """Set up an endpoint; the answer alone shows its secret. A team has 20 at most."""
        given = self.body(NewWebhookSerializer)
        with self.team_scope():
            made = endpoints.create_endpoint(team_id=self.principal.team_id, **given)
            return self._shown_once(made, status=201)

    @extend_schema(
        operation_id="webhooks_list",
        parameters=[PageQuerySerializer],
        responses=answers(WebhookPage, 403, 422),
    )
    def entries(self, request: Request) -> Response:
        """The team's endpoints, newest first."""
        team_id = self.principal.team_id
        return self.listed(
            lambda _: WebhookEndpoint.objects.filter(team_id=team_id),
            filters=PageQuerySerializer,
            shown=WebhookSerializer,
            pages=IdPagination,
        )

    @extend_schema(
        operation_id="webhooks_retrieve",
        parameters=[_PK],
        responses=answers(WebhookSerializer, 403, 404, 422),
    )
    def load(self, request: Request, pk: UUID) -> Response:
        """An endpoint, without its secret."""
        self.params(NoQuerySerializer)
        with self.team_scope():
            return Response(WebhookSerializer(self._endpoint(pk)).data)

    @extend_schema(
        operation_id="webhooks_partial_update",
        parameters=[_PK],
        request=WebhookChangeSerializer,
        responses=answers(WebhookSerializer, 403, 404, 422),
    )
    def change(self, request: Request, pk: UUID) -> Response:
        """Change an endpoint, or enable it again; what waits is sent to a new address."""
        given = self.body(WebhookChangeSerializer)
        if "enabled" in given:
            given["is_enabled"] = given.pop("enabled")
        with self.team_scope():
            changed = endpoints.change_endpoint(endpoint=self._endpoint(pk), changes=given)
            return Response(WebhookSerializer(changed).data)

    @extend_schema(
        operation_id="webhooks_destroy",
        parameters=[_PK],
        responses={204: None, **refusals(403, 404, 422)},
    )
    def remove(self, request: Request, pk: UUID) -> Response:
        """Remove an endpoint with all that waits for it."""
        self.params(NoQuerySerializer)
        with self.team_scope():
            endpoints.delete_endpoint(endpoint=self._endpoint(pk))
        return Response(status=204)

    @extend_schema(
        operation_id="webhooks_rotate_secret",
        parameters=[_PK],
        request=None,
        responses=answers(WebhookWithSecretSerializer, 403, 404, 422),
    )
    def rotate(self, request: Request, pk: UUID) -> Response:
        """Give it a new secret, which this answer alone shows; for 24 hours the old one signs too.

        A rotation within these 24 hours ends the older of the two at once.
        """
        self.body(StrictSerializer)
        with self.team_scope():
            made = endpoints.rotate_secret(endpoint=self._endpoint(pk), now=database_now())
            return self._shown_once(made, status=200)

    @extend_schema(
        operation_id="webhooks_test",
        parameters=[_PK],
        request=None,
        responses={
            202: OpenApiResponse(WebhookDeliverySerializer, description="It is sent in a moment."),
            **refusals(403, 404, 409, 422),
        },
    )
    def test(self, request: Request, pk: UUID) -> Response:
        """Send it an event of the type `webhook.test`; its deliveries tell what became of it."""
        self.body(StrictSerializer)
        with self.team_scope():
            sent = endpoints.send_test(endpoint=self._endpoint(pk), now=database_now())
            return Response(WebhookDeliverySerializer(sent).data, status=202)

    @extend_schema(
        operation_id="webhooks_deliveries",
        parameters=[_PK, WebhookDeliveryFilterSerializer],
        responses=answers(WebhookDeliveryPage, 403, 404, 422),
    )
    def deliveries(self, request: Request, pk: UUID) -> Response:
        """What was sent, waits or is dead, the latest first; kept for WEBHOOK_DAYS."""
        given = self.filters(WebhookDeliveryFilterSerializer)
        with self.team_scope():
            rows = WebhookDelivery.objects.filter(
                team_id=self.principal.team_id, endpoint=self._endpoint(pk), **given
            )
            return Response(LogPagination().page_of(rows, request, WebhookDeliverySerializer))

    @extend_schema(
        operation_id="webhooks_replay",
        parameters=[_PK],
        request=ReplaySerializer,
        responses=answers(ReplayedSerializer, 403, 404, 409, 422),
    )
    def replay(self, request: Request, pk: UUID) -> Response:
        """Send all dead deliveries since a time again, under the ids that they had."""
        given = self.body(ReplaySerializer)
        with self.team_scope():
            count = endpoints.replay(
                endpoint=self._endpoint(pk), now=database_now(), dead_since=given["since"]
            )
            return Response({"replayed": count})

    @extend_schema(
        operation_id="webhooks_replay_delivery",
        parameters=[_PK, _DELIVERY],
        request=None,
        responses=answers(ReplayedSerializer, 403, 404, 409, 422),
    )
    def replay_one(self, request: Request, pk: UUID, delivery_id: UUID) -> Response:
        """Send one delivery again under the id that it had; one that waits is tried at once."""
        self.body(StrictSerializer)
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
