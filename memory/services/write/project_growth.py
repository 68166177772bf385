"""Lets a project that was written to be held to its limit, soon after the write commits."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import partial
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.db import transaction

from memory.services.write.drafts import Outcome, WriteResult
from routing.clients.quick_redis import quick_redis

KEEP_TO_LIMIT_TASK = "memory.tasks.keep_project_to_limit"
# Writes of so many seconds share one task, which comes after the last of them.
_GATHER_SECONDS = 5
_NOT_MORE = (Outcome.DUPLICATE, Outcome.HELD)

logger = logging.getLogger(__name__)


def note_growth(results: Iterable[WriteResult]) -> None:
    """Publish a task for each project that a write gave memories to, once it commits.

    A sweep finds what the queue loses; it never fails or undoes the write.
    """
    grown = {
        (result.memory.team_id, result.memory.project_id)
        for result in results
        if result.memory.project_id is not None and result.outcome not in _NOT_MORE
    }
    for team_id, project_id in grown:
        transaction.on_commit(partial(ask_soon, team_id, project_id))


def ask_soon(team_id: UUID, project_id: UUID) -> None:
    """Publish the task unless one is on its way."""
    key = f"{settings.REDIS_PREFIX}:project-limit:{team_id}:{project_id}"
    if not quick_redis().ask(lambda client: client.set(key, 1, nx=True, ex=_GATHER_SECONDS)):
        return
    try:
        current_app.send_task(
            KEEP_TO_LIMIT_TASK, args=[str(team_id), str(project_id)], countdown=_GATHER_SECONDS
        )
    except Exception:
        # The broker's client raises many kinds; the sweep comes round.
        logger.warning("The limit of project %s was not looked at: no broker.", project_id)
