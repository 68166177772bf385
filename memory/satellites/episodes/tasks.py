"""Background work of the satellite."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.db import OperationalError
from django.utils import timezone

from memory.models import Job
from memory.satellites.episodes.insights import draw_waiting_insights
from memory.satellites.episodes.making import run_episode_job
from memory.satellites.episodes.sittings import queue_episodes
from memory.services.extraction.jobs import (
    RUN_EPISODE_TASK,
    overdue_jobs,
)
from memory.understanding.tools import default_tools
from teams.clock import database_now
from teams.services.people import all_team_ids
from teams.tenancy import team_scope

JOBS_A_SWEEP = 20


@shared_task(
    name=RUN_EPISODE_TASK,
    autoretry_for=(OperationalError,),
    retry_backoff=True,
    retry_jitter=True,
    max_retries=5,
)
def make_episode(team_id: str, job_id: str) -> None:
    """Tell one sitting of talk as an episode."""
    run_episode_job(
        team_id=UUID(team_id), job_id=UUID(job_id), tools=default_tools(), now=database_now()
    )


@shared_task(name="memory.satellites.episodes.tasks.close_sittings")
def close_sittings() -> None:
    """Queue the episodes of talk at rest, some conversations of each team at a time."""
    for team_id in all_team_ids():
        queue_episodes(team_id=team_id, now=timezone.now())


@shared_task(name="memory.satellites.episodes.tasks.draw_insights")
def draw_insights() -> None:
    """Draw insights about people of whom something was learned, each once a day at most."""
    draw_waiting_insights(
        tools=default_tools(), now=timezone.now(), seconds=settings.CELERY_TASK_TIME_LIMIT / 4
    )


@shared_task(name="memory.satellites.episodes.tasks.sweep_episodes")
def sweep_episodes() -> None:
    """Publish the episode jobs that the queue lost or whose worker died."""
    for team_id in all_team_ids():
        with team_scope(team_ids=[team_id], actor="task:sweep_episodes"):
            jobs = overdue_jobs(
                team_id=team_id, now=database_now(), kind=Job.Kind.EPISODE, limit=JOBS_A_SWEEP
            )
        for job_id in jobs:
            make_episode.delay(str(team_id), str(job_id))
