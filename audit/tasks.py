"""Background work on the log."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from audit.services import events
from audit.services.erasure import clear_caches_of_erased
from audit.services.seals import closed_up_to, seal_team
from teams.services.people import all_team_ids
from teams.tenancy import database_now


@shared_task(name="audit.tasks.seal_log")
def seal_log() -> None:
    """Seal what was logged since the last time, by team."""
    last_seq = closed_up_to(seconds=settings.CELERY_TASK_TIME_LIMIT / 10)
    if last_seq is None:
        return
    for team_id in all_team_ids():
        seal_team(team_id=team_id, last_seq=last_seq, now=timezone.now())


@shared_task(name="audit.tasks.clear_caches_of_erased")
def clear_caches() -> None:
    """Drop what a read that met an erasure half-way may have put into Redis afterwards."""
    clear_caches_of_erased(now=timezone.now())


@shared_task(name="audit.tasks.flush_events", ignore_result=True)
def flush_events() -> None:
    """Write down the operational events that wait in Redis."""
    events.flush_events()


@shared_task(name="audit.tasks.keep_event_days", ignore_result=True)
def keep_event_days() -> None:
    """Make room for the events of the coming days and drop those that are too old."""
    events.keep_event_days(now=database_now())
