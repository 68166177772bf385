"""Background tasks: settling kept costs and pruning routing decisions."""

from __future__ import annotations

from celery import shared_task

from routing.services import decisions
from routing.services.settling import settle_kept
from teams.clock import database_now


@shared_task(name="routing.tasks.settle_kept_costs")
def settle_kept_costs() -> None:
    """Count the costs that the database could not take when their calls ended."""
    settle_kept()


@shared_task(name="routing.tasks.prune_decisions", ignore_result=True)
def prune_decisions() -> None:
    """Remove decisions that are too old to be looked at."""
    decisions.prune_decisions(now=database_now())
