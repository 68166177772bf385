"""Background work on what models cost."""

from __future__ import annotations

from celery import shared_task

from routing.services.settling import settle_kept


@shared_task(name="routing.tasks.settle_kept_costs")
def settle_kept_costs() -> None:
    """Count the costs that the database could not take when their calls ended."""
    settle_kept()
