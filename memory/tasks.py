"""Background work: each task makes one service call and may run twice, late or for nothing."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.db import OperationalError
from django.utils import timezone

from memory.models import Job
from memory.services.consent.deciding import expire_requests
from memory.services.consent.team_facts import propose_due_team_facts
from memory.services.decisions.project_limits import keep_all_to_limits, keep_to_limit
from memory.services.episodes.making import run_episode_job
from memory.services.episodes.sittings import queue_episodes
from memory.services.extraction.jobs import (
    RUN_EPISODE_TASK,
    RUN_JOB_TASK,
    overdue_jobs,
    queue_rested,
)
from memory.services.extraction.turns import work_in_turn
from memory.services.indexing.levels import write_waiting_levels
from memory.services.indexing.message_index import index_waiting
from memory.services.indexing.pending_vectors import embed_pending
from memory.services.indexing.statistics import renew_outdated_statistics
from memory.services.indexing.vector_graphs import extend_vector_graphs
from memory.services.insights.making import draw_waiting_insights
from memory.services.lifecycle.purging import purge_due
from memory.services.lifecycle.running import run_consolidation as go_on_with_run
from memory.services.lifecycle.runs import RUN_TASK, start_due_runs
from memory.services.read.usage import flush_noted_usage
from memory.services.store_items import delete_expired
from memory.services.transfer.import_runs import run_import as go_on_with_import
from memory.services.transfer.imports import IMPORT_TASK, overdue_imports
from memory.services.transfer.imports import publish as publish_import
from memory.services.webhooks.delivering import deliver_waiting, prune_deliveries
from memory.services.workflows.proposing import PROPOSE_TASK, propose_workflows
from memory.services.write.project_growth import KEEP_TO_LIMIT_TASK
from memory.understanding.tools import default_tools
from teams.clock import careful, database_now
from teams.services.people import all_team_ids
from teams.tenancy import team_scope

# Of each team; the next sweep goes on.
MESSAGES_A_SWEEP = 1_000
EMBEDDING_SECONDS = 20.0
JOBS_A_SWEEP = 20
ITEMS_A_SWEEP = 500
WEBHOOK_RUN_SECONDS = 3.0


@shared_task(
    name=RUN_JOB_TASK,
    autoretry_for=(OperationalError,),
    retry_backoff=True,
    retry_jitter=True,
    max_retries=5,
)
def run_extraction_job(_team_id: str, _job_id: str) -> None:
    """Run the extraction job whose turn it is for a while; for each that waits a task is sent.

    It names the job that it was sent for, which need not be the one that is run.
    """
    work_in_turn(tools=default_tools(), seconds=settings.JOB_SLICE_SECONDS)


@shared_task(name="memory.tasks.sweep_jobs")
def sweep_jobs() -> None:
    """Publish the jobs and imports that the queue lost or whose worker died."""
    runs = ((Job.Kind.EXTRACT, run_extraction_job), (Job.Kind.EPISODE, make_episode))
    for team_id in all_team_ids():
        for kind, run in runs:
            with team_scope(team_ids=[team_id], actor="task:sweep_jobs"):
                now = database_now()
                jobs = overdue_jobs(team_id=team_id, now=now, kind=kind, limit=JOBS_A_SWEEP)
            for job_id in jobs:
                run.delay(str(team_id), str(job_id))
        with team_scope(team_ids=[team_id], actor="task:sweep_jobs"):
            for each in overdue_imports(team_id=team_id, now=database_now()):
                publish_import(each)


@shared_task(name="memory.tasks.extract_rested")
def extract_rested() -> None:
    """Queue what waits in conversations at rest."""
    for team_id in all_team_ids():
        queue_rested(team_id=team_id, now=timezone.now())


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


@shared_task(name="memory.tasks.close_sittings")
def close_sittings() -> None:
    """Queue the episodes of talk at rest, some conversations of each team at a time."""
    for team_id in all_team_ids():
        queue_episodes(team_id=team_id, now=timezone.now())


@shared_task(name="memory.tasks.draw_insights")
def draw_insights() -> None:
    """Draw insights about people of whom something was learned, each once a day at most."""
    draw_waiting_insights(
        tools=default_tools(), now=timezone.now(), seconds=settings.CELERY_TASK_TIME_LIMIT / 4
    )


@shared_task(name="memory.tasks.flush_usage")
def flush_usage() -> None:
    """Write down how often memories were retrieved."""
    flush_noted_usage()


@shared_task(name="memory.tasks.extend_graphs")
def extend_graphs() -> None:
    """Add the latest vectors of large teams to their approximate index."""
    extend_vector_graphs(seconds=settings.CELERY_TASK_TIME_LIMIT / 4)


@shared_task(name="memory.tasks.renew_statistics")
def renew_statistics() -> None:
    """Let the planner know of tables that have grown much."""
    renew_outdated_statistics()


@shared_task(name="memory.tasks.index_messages")
def index_messages() -> None:
    """Make the messages that wait searchable, a thousand of each team at a time."""
    index_waiting(tools=default_tools(), most=MESSAGES_A_SWEEP)


@shared_task(name="memory.tasks.embed_memories")
def embed_memories() -> None:
    """Embed the memories that were stored in bulk, for a while; the next sweep goes on."""
    embed_pending(tools=default_tools(), seconds=EMBEDDING_SECONDS)


@shared_task(name="memory.tasks.expire_items")
def expire_items() -> None:
    """Delete the items of stores whose time is over, with their memories."""
    for team_id in all_team_ids():
        delete_expired(team_id=team_id, now=timezone.now(), most=ITEMS_A_SWEEP)


@shared_task(name="memory.tasks.write_levels")
def write_levels() -> None:
    """Write the shorter versions of long memories that wait for them."""
    write_waiting_levels(tools=default_tools(), seconds=settings.CELERY_TASK_TIME_LIMIT / 4)


@shared_task(
    name=PROPOSE_TASK,
    autoretry_for=(OperationalError,),
    retry_backoff=True,
    retry_jitter=True,
    max_retries=3,
)
def propose_recurring_workflows(team_id: str, conversation_id: str) -> None:
    """Propose the workflows that recur in the talk of a conversation's agent."""
    propose_workflows(
        team_id=UUID(team_id), conversation_id=UUID(conversation_id), now=timezone.now()
    )


@shared_task(name="memory.tasks.expire_consent_requests")
def expire_consent_requests() -> None:
    """End the consent requests that nobody decided in time."""
    expire_requests(now=careful(database_now()))


@shared_task(
    name=KEEP_TO_LIMIT_TASK,
    autoretry_for=(OperationalError,),
    retry_backoff=True,
    retry_jitter=True,
    max_retries=3,
)
def keep_project_to_limit(team_id: str, project_id: str) -> None:
    """Archive what a project has too much."""
    keep_to_limit(team_id=UUID(team_id), project_id=UUID(project_id))


@shared_task(name="memory.tasks.keep_projects_to_limits")
def keep_projects_to_limits() -> None:
    """Archive what the projects of all teams have too much."""
    keep_all_to_limits()


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


@shared_task(
    name=IMPORT_TASK,
    autoretry_for=(OperationalError,),
    retry_backoff=True,
    retry_jitter=True,
    max_retries=5,
)
def run_import(team_id: str, run_id: str) -> None:
    """Go on with an import; a long one goes on in another task, far from the time limit."""
    go_on_with_import(
        team_id=UUID(team_id),
        run_id=UUID(run_id),
        tools=default_tools(),
        seconds=settings.CELERY_TASK_TIME_LIMIT / 10,
    )


@shared_task(name="memory.tasks.consolidate_due_teams")
def consolidate_due_teams() -> None:
    """Start the daily runs whose hour it is, and go on with those whose worker died."""
    start_due_runs(now=database_now())


@shared_task(name="memory.tasks.purge_expired")
def purge_expired() -> None:
    """Purge what expired and was not restored in time."""
    purge_due(now=careful(database_now()), seconds=settings.CELERY_TASK_TIME_LIMIT / 10)


@shared_task(name="memory.tasks.propose_team_facts")
def propose_team_facts() -> None:
    """Propose what several people state, of the teams whose hour it is."""
    propose_due_team_facts(now=timezone.now())


@shared_task(name="memory.tasks.deliver_webhooks", ignore_result=True)
def deliver_webhooks() -> None:
    """Tell webhooks of what happened."""
    deliver_waiting(seconds=WEBHOOK_RUN_SECONDS)


@shared_task(name="memory.tasks.prune_webhooks", ignore_result=True)
def prune_webhooks() -> None:
    """Remove deliveries that are too old to be looked at."""
    prune_deliveries(now=careful(database_now()))
