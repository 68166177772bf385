"""Background work of the satellite."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.db import OperationalError

from memory.satellites.transfer.imports import IMPORT_TASK, overdue_imports
from memory.satellites.transfer.imports import publish as publish_import
from memory.satellites.transfer.imports import run_import as go_on_with_import
from memory.understanding.tools import default_tools
from teams.services.people import all_team_ids
from teams.tenancy import database_now, team_scope


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


@shared_task(name="memory.satellites.transfer.tasks.sweep_imports")
def sweep_imports() -> None:
    """Publish the imports that the queue lost or whose worker died."""
    for team_id in all_team_ids():
        with team_scope(team_ids=[team_id], actor="task:sweep_imports"):
            for each in overdue_imports(team_id=team_id, now=database_now()):
                publish_import(each)
