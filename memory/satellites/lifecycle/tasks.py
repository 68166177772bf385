"""Background work of the satellite."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.db import OperationalError

from memory.satellites.lifecycle.aging import purge_due
from memory.satellites.lifecycle.running import run_consolidation as go_on_with_run
from memory.satellites.lifecycle.runs import RUN_TASK, start_due_runs
from memory.understanding.tools import default_tools
from teams.tenancy import database_now


@shared_task(
    name=RUN_TASK,
    autoretry_for=(OperationalError,),
    retry_backoff=True,
    retry_jitter=True,
    max_retries=5,
)
def run_consolidation(team_id: str, run_id: str) -> None:
    """Go on with a consolidation; a long one goes on in another task, far from the time limit."""
    go_on_with_run(
        team_id=UUID(team_id),
        run_id=UUID(run_id),
        tools=default_tools(),
        seconds=settings.CELERY_TASK_TIME_LIMIT / 10,
    )


@shared_task(name="memory.satellites.lifecycle.tasks.consolidate_due_teams")
def consolidate_due_teams() -> None:
    """Start the daily runs whose hour it is, and go on with those whose worker died."""
    start_due_runs(now=database_now())


@shared_task(name="memory.satellites.lifecycle.tasks.purge_expired")
def purge_expired() -> None:
    """Purge what expired and was not restored in time."""
    purge_due(now=database_now(), seconds=settings.CELERY_TASK_TIME_LIMIT / 10)
