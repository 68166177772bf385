"""Background work of the satellite."""

from __future__ import annotations

import time

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from memory.satellites.langgraph.store_items import delete_expired
from teams.services.people import all_team_ids

_ITEMS_AT_ONCE = 500


@shared_task(name="memory.satellites.langgraph.tasks.expire_items")
def expire_items() -> None:
    """Delete the items of stores whose time is over, with their memories.

    Of each team 500 at least; where more are due, the next ones while time is left.
    """
    until = time.monotonic() + settings.CELERY_TASK_TIME_LIMIT / 10
    for team_id in all_team_ids():
        deleted = _ITEMS_AT_ONCE
        while deleted == _ITEMS_AT_ONCE:
            deleted = delete_expired(team_id=team_id, now=timezone.now(), most=_ITEMS_AT_ONCE)
            if time.monotonic() >= until:
                break
