"""Background work of the satellite."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from memory.models import Job
from memory.satellites.episodes.insights import draw_waiting_insights
from memory.satellites.episodes.making import RUN_TASK, make_episode, queue_episodes
from memory.understanding.tools import default_tools
from memory.writing.jobs import work_for_team
from teams.services.people import all_team_ids
from teams.tenancy import database_now


@shared_task(name=RUN_TASK)
def run_episode_jobs(team_id: str) -> None:
    """Make the episodes of a team for a while."""
    work_for_team(
        team_id=UUID(team_id),
        kind=Job.Kind.EPISODE,
        run=lambda run, _: make_episode(run, tools=default_tools(), now=database_now()),
        seconds=settings.JOB_SLICE_SECONDS,
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
