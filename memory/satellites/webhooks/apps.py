"""Django app: Webhooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memory import satellite

if TYPE_CHECKING:
    from prometheus_client.core import Metric


class WebhooksConfig(satellite.Satellite):
    """Delivers events to the endpoints of teams."""

    name = "memory.satellites.webhooks"
    label = "webhooks"
    verbose_name = "Webhooks"
    routes = "memory.satellites.webhooks.api"
    periodic = {
        "memory.satellites.webhooks.tasks.deliver_webhooks": 2.0,
        "memory.satellites.webhooks.tasks.prune_webhooks": 3600.0,
    }
    kept_back = {
        "teams_webhookdelivery": "messages for webhooks of this installation",
        "teams_webhookendpoint": "webhooks, whose secrets only this installation knows",
    }

    def ready(self) -> None:
        """Announces budgets that are nearly used up, or used up."""
        super().ready()
        from memory.satellites.webhooks.endpoints import announce
        from routing.services.cost_guard import LISTENERS

        LISTENERS.append(announce)

    def metrics(self) -> Iterator[Metric]:
        """Yields the deliveries that wait or failed, by state."""
        from prometheus_client.core import GaugeMetricFamily

        from memory.satellites.webhooks.delivering import undelivered_by_state

        deliveries = GaugeMetricFamily(
            "palimpsest_webhook_deliveries",
            "Events for webhooks that wait or could not be delivered, by state.",
            labels=["state"],
        )
        for state, count in undelivered_by_state().items():
            deliveries.add_metric([state], count)
        yield deliveries
