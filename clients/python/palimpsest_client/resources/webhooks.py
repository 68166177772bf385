"""Programs of the team that are told of changes."""

from __future__ import annotations

from typing import Unpack

from palimpsest_client import models as m
from palimpsest_client import params as p
from palimpsest_client.calls import Call, Id, Paged, get, pages, post
from palimpsest_client.operations import Resource, SenderT, operation


class Webhooks(Resource[SenderT]):
    """`/v1/webhooks`."""

    @operation
    def list(self, **query: Unpack[p.WebhooksListQuery]) -> Paged[m.WebhookPage, m.Webhook]:
        """The team's webhooks, the latest first."""
        return pages("/v1/webhooks", m.WebhookPage, query=query)

    @operation
    def create(self, **webhook: Unpack[p.NewWebhook]) -> Call[m.WebhookWithSecret]:
        """Set one up; no other answer shows its secret."""
        return post("/v1/webhooks", m.WebhookWithSecret, body=webhook)

    @operation
    def get(self, webhook_id: Id) -> Call[m.Webhook]:
        """One webhook, without its secret."""
        return get("/v1/webhooks/{id}", m.Webhook, webhook_id)

    @operation
    def change(self, webhook_id: Id, **change: Unpack[p.WebhookChange]) -> Call[m.Webhook]:
        """Change it, or enable it again."""
        return Call("PATCH", "/v1/webhooks/{id}", {200: m.Webhook}, (webhook_id,), body=change)

    @operation
    def delete(self, webhook_id: Id) -> Call[None]:
        """Remove it with all that waits for it."""
        return Call("DELETE", "/v1/webhooks/{id}", {204: None}, (webhook_id,))

    @operation
    def rotate_secret(self, webhook_id: Id) -> Call[m.WebhookWithSecret]:
        """Give it a new secret; the old one signs too for 24 hours."""
        return post("/v1/webhooks/{id}/rotate-secret", m.WebhookWithSecret, webhook_id)

    @operation
    def test(self, webhook_id: Id) -> Call[m.WebhookDelivery]:
        """Send it an event of the type `webhook.test`."""
        return post("/v1/webhooks/{id}/test", m.WebhookDelivery, webhook_id)

    @operation
    def deliveries(
        self, webhook_id: Id, **query: Unpack[p.WebhooksDeliveriesQuery]
    ) -> Paged[m.WebhookDeliveryPage, m.WebhookDelivery]:
        """The webhook's deliveries, whether sent, pending or dead, the latest first."""
        path = "/v1/webhooks/{id}/deliveries"
        return pages(path, m.WebhookDeliveryPage, webhook_id, query=query)

    @operation
    def replay(self, webhook_id: Id, **replay: Unpack[p.Replay]) -> Call[m.Replayed]:
        """Send its dead deliveries again, those of events since a time."""
        return post("/v1/webhooks/{id}/replay", m.Replayed, webhook_id, body=replay)

    @operation
    def replay_delivery(self, webhook_id: Id, delivery_id: Id) -> Call[m.Replayed]:
        """Send one delivery again that ended."""
        path = "/v1/webhooks/{id}/deliveries/{delivery_id}/replay"
        return post(path, m.Replayed, webhook_id, delivery_id)
