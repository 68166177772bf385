"""Background work: each task makes one service call and may run twice, late or for nothing."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.db import OperationalError
from django.utils import timezone

from memory.models import Job
from memory.reading.usage import flush_noted_usage
from memory.selectors.conversations import team_queues
from memory.understanding.tools import default_tools
from memory.writing.decisions.clearing import keep_all_to_limits, keep_to_limit
from memory.writing.indexing.message_index import index_waiting
from memory.writing.indexing.vector_graphs import extend_vector_graphs, renew_outdated_statistics
from memory.writing.indexing.vectors import embed_pending, write_waiting_levels
from memory.writing.jobs import RUN_JOB_TASK, TASKS, publish, queue_rested, work_for_team
from memory.writing.pipeline import run_windows
from memory.writing.write_path import KEEP_TO_LIMIT_TASK
from teams.services.people import all_team_ids

# Of each team; the next sweep continues.
MESSAGES_A_SWEEP = 1_000
EMBEDDING_SECONDS = 20.0


@shared_task(
    name=RUN_JOB_TASK,
    soft_time_limit=int(settings.EXTRACTION_WINDOW_SECONDS + settings.JOB_SLICE_SECONDS),
)
def run_extraction_jobs(team_id: str) -> None:
    """Runs extraction jobs of a team for a while."""
    work_for_team(
        team_id=UUID(team_id),
        kind=Job.Kind.EXTRACT,
        run=lambda run, until: run_windows(run, tools=default_tools(), until=until),
        seconds=settings.JOB_SLICE_SECONDS,
    )


@shared_task(name="memory.tasks.sweep_jobs")
def sweep_jobs() -> None:
    """Publishes the jobs that the queue lost or whose worker died."""
    for queue in team_queues():
        if queue.kind in TASKS:
            publish(team_id=queue.team_id, kind=queue.kind)


@shared_task(name="memory.tasks.extract_rested")
def extract_rested() -> None:
    """Queues the unread messages of conversations at rest."""
    for team_id in all_team_ids():
        queue_rested(team_id=team_id, now=timezone.now())


@shared_task(name="memory.tasks.flush_usage")
def flush_usage() -> None:
    """Stores how often memories were retrieved."""
    flush_noted_usage()


@shared_task(name="memory.tasks.extend_graphs")
def extend_graphs() -> None:
    """Adds the latest vectors of large teams to their approximate index."""
    extend_vector_graphs(seconds=settings.CELERY_TASK_TIME_LIMIT / 4)


@shared_task(name="memory.tasks.renew_statistics")
def renew_statistics() -> None:
    """Analyses tables that have grown much."""
    renew_outdated_statistics()


@shared_task(name="memory.tasks.index_messages")
def index_messages() -> None:
    """Makes the pending messages searchable, a thousand of each team at a time."""
    index_waiting(tools=default_tools(), most=MESSAGES_A_SWEEP)


@shared_task(name="memory.tasks.embed_memories")
def embed_memories() -> None:
    """Embeds the memories that were stored in bulk, for a while."""
    embed_pending(tools=default_tools(), seconds=EMBEDDING_SECONDS)


@shared_task(name="memory.tasks.write_levels")
def write_levels() -> None:
    """Writes the pending shorter versions of long memories."""
    write_waiting_levels(tools=default_tools(), seconds=settings.CELERY_TASK_TIME_LIMIT / 4)


@shared_task(
    name=KEEP_TO_LIMIT_TASK,
    autoretry_for=(OperationalError,),
    retry_backoff=True,
    retry_jitter=True,
    max_retries=3,
)
def keep_project_to_limit(team_id: str, project_id: str) -> None:
    """Archives memories of a project over its limit."""
    keep_to_limit(team_id=UUID(team_id), project_id=UUID(project_id))


@shared_task(name="memory.tasks.keep_projects_to_limits")
def keep_projects_to_limits() -> None:
    """Archives memories of all projects over their limits."""
    keep_all_to_limits()
