"""Background tasks: settling kept costs and pruning routing decisions."""

from __future__ import annotations

from celery import shared_task

from routing.services.cost_guard import settle_kept
from routing.services.router import prune_decisions as prune
from teams.tenancy import database_now


@shared_task(name="routing.tasks.settle_kept_costs")
def settle_kept_costs() -> None:
    """Counts the costs that the database could not take when their calls ended."""
    settle_kept()


@shared_task(name="routing.tasks.prune_decisions", ignore_result=True)
def prune_decisions() -> None:
    """Removes the decisions that are older than DECISION_DAYS."""
    prune(now=database_now())
