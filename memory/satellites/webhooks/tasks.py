"""Background work of the satellite."""

from __future__ import annotations

from celery import shared_task

from memory.satellites.webhooks.delivering import deliver_waiting, prune_deliveries
from teams.tenancy import database_now

WEBHOOK_RUN_SECONDS = 3.0


@shared_task(name="memory.satellites.webhooks.tasks.deliver_webhooks", ignore_result=True)
def deliver_webhooks() -> None:
    """Tell webhooks of what happened."""
    deliver_waiting(seconds=WEBHOOK_RUN_SECONDS)


@shared_task(name="memory.satellites.webhooks.tasks.prune_webhooks", ignore_result=True)
def prune_webhooks() -> None:
    """Remove deliveries that are too old to be looked at."""
    prune_deliveries(now=database_now())
