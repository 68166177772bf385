"""Django app: Webhooks."""

from memory import satellite


class WebhooksConfig(satellite.Satellite):
    """Delivers events to the endpoints of teams."""

    name = "memory.satellites.webhooks"
    label = "webhooks"
    verbose_name = "Webhooks"
    routes = "memory.satellites.webhooks.urls"
    periodic = {
        "memory.satellites.webhooks.tasks.deliver_webhooks": 2.0,
        "memory.satellites.webhooks.tasks.prune_webhooks": 3600.0,
    }
