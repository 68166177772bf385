"""Background work of the satellite."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from memory.satellites.langgraph.store_items import delete_expired
from teams.services.people import all_team_ids

ITEMS_A_SWEEP = 500


@shared_task(name="memory.satellites.langgraph.tasks.expire_items")
def expire_items() -> None:
    """Delete the items of stores whose time is over, with their memories."""
    for team_id in all_team_ids():
        delete_expired(team_id=team_id, now=timezone.now(), most=ITEMS_A_SWEEP)
